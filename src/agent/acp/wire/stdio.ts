// Stdin and stdout as the protocol's streams. A message that is too large is replaced by a short one: otherwise it would
// end the connection, and every session with it.

import type { Writable } from "node:stream";
import { RequestError } from "@agentclientprotocol/sdk";
import { tryParseJson } from "../../../core/types/json.ts";
import { type Line, LineCutter } from "../../../util/line-reader.ts";

/** The protocol's output, over the only way to the real stdout. */
export function outputStream(write: Writable["write"]): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

/** The method of the short request that replaces one that was too large. */
export const TOO_LARGE = "_plugboard/message_too_large";

const LINE_END = Buffer.from("\n");

export function tooLarge(maxBytes: number): RequestError {
  const message = `the message is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
  return RequestError.invalidRequest({ maxBytes }, message);
}

export function boundLines({
  maxBytes,
  onDropped,
}: {
  maxBytes: number;
  onDropped: () => void;
}): TransformStream<Uint8Array, Uint8Array> {
  const cutter = new LineCutter({ maxBytes });
  const standsFor = ({ head }: Extract<Line, { kind: "too-long" }>): Uint8Array => {
    onDropped();
    return Buffer.from(`${JSON.stringify(standIn(head, maxBytes))}\n`);
  };
  return new TransformStream({
    transform(chunk, controller) {
      const { buffer, byteOffset, byteLength } = chunk;
      for (const line of cutter.push(Buffer.from(buffer, byteOffset, byteLength))) {
        if (line.kind === "too-long") {
          controller.enqueue(standsFor(line));
          continue;
        }
        controller.enqueue(line.bytes);
        controller.enqueue(LINE_END);
      }
    },
    flush(controller) {
      for (const line of cutter.end())
        controller.enqueue(line.kind === "line" ? line.bytes : standsFor(line));
    },
  });
}

/**
 * Clients put a message's id before `params` or `result`, so the beginning is enough to find it. `null` if it is not
 * there; the SDK answers that as an invalid request.
 */
function standIn(head: string, maxBytes: number): object | null {
  const { id, next } = readHead(head);
  if (id === undefined) return null;
  const isAnswer = next === "result" || next === "error";
  const { code, message } = tooLarge(maxBytes);
  return {
    jsonrpc: "2.0",
    id,
    ...(isAnswer ? { error: { code, message } } : { method: TOO_LARGE }),
  };
}

/** The message's id, and the first key whose value is not a plain string or number. */
export function readHead(head: string): { id: unknown; next: string | undefined } {
  const member = /\s*[{,]\s*"(\w+)"\s*:\s*(?:("[^"\\]*"|-?\d+)\s*(?=,))?/y;
  let id: unknown;
  for (let match = member.exec(head); match !== null; match = member.exec(head)) {
    const [, key, value] = match;
    if (value === undefined) return { id, next: key };
    if (key === "id") id = tryParseJson(value);
  }
  return { id, next: undefined };
}
