// Puts an answer on the wire chunk by chunk, with the delays and the accidents of its turn.

/** @import { ServerResponse } from "node:http" */
/** @import { Frame, Json } from "./api.d.mts" */
/** @import { Turn } from "./start.mjs" */

import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { writes } from "./pieces.mjs";

/** An answer in one piece is sent in so many chunks. */
const CHUNKS_OF_WHOLE = 4;

/**
 * @param {Frame} frame
 * @returns {string}
 */
export function toEvent({ event, data }) {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/**
 * @param {Json} body
 * @returns {Buffer[]}
 */
export function toChunks(body) {
  const bytes = Buffer.from(JSON.stringify(body));
  const size = Math.ceil(bytes.length / CHUNKS_OF_WHOLE);
  return Array.from({ length: CHUNKS_OF_WHOLE }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/**
 * Resolves when everything is out, or nobody reads any more.
 * @param {ServerResponse} response whose head has been written
 * @param {readonly (string | Uint8Array)[]} chunks
 * @param {Pick<Turn, "chunkDelayMs" | "until" | "cut" | "endAfter">} turn
 * @param {AbortSignal} signal
 */
export async function send(response, chunks, { chunkDelayMs = 0, until, cut, endAfter }, signal) {
  response.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await pause(chunkDelayMs, signal);
    if (index === chunks.length - 1) await until;
    if (signal.aborted) return;
    if (index === cut) return response.destroy();
    if (index === endAfter) break;
    for (const bytes of writes(Buffer.from(chunk))) {
      await write(response, bytes, signal);
      await beRead();
    }
  }
  response.end();
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 */
export async function pause(ms, signal) {
  // Rejects only when aborted, which the caller looks for itself.
  if (ms > 0) await wait(ms, undefined, { signal }).catch(() => {});
}

/** Writes that wait in a client's buffer are read as one: it gets a turn, if it is in this process. */
async function beRead() {
  await nextTurn();
  await nextTurn();
}

/**
 * @param {ServerResponse} response
 * @param {Buffer} bytes
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function write(response, bytes, signal) {
  return new Promise((resolve) => {
    // A socket that is gone never calls back.
    const done = () => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done);
    if (signal.aborted) return done();
    response.write(bytes, done);
  });
}
