// Stdin and stdout as the protocol's streams. A message that is too large, or has too much in it, is replaced by a short
// one: otherwise it would end the connection, and every session with it, or hold them all up.

import type { Writable } from "node:stream";
import { readEnds, readHead, type RpcHead } from "../../../core/types/rpc-head.ts";
import { type Line, LineCutter } from "../../../util/line-reader.ts";
import { excessIn } from "../../../util/measure-json.ts";
import { byteSize } from "../../../util/text.ts";

/** The protocol's output, over the only way to the real stdout. */
export function outputStream(write: Writable["write"]): WritableStream<Uint8Array> {
  return new WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });
}

/** The method of the short request that replaces one that was refused; its parameters are the reason. */
export const REFUSED = "_plugboard/message_refused";

export const INVALID_REQUEST = -32600;
const LINE_END = Buffer.from("\n");

/** A line that is not parsed. */
export interface RefusedLine extends RpcHead {
  kind: "refused";
  /** What is wrong with the message, and what to answer. */
  error: { code: number; message: string };
}

export function bounded(
  line: Line,
  maxBytes: number,
): Extract<Line, { kind: "line" }> | RefusedLine {
  if (line.kind === "too-long") {
    return refused(readHead(line.head), `is larger than ${byteSize(maxBytes)}`);
  }
  const excess = excessIn(line.bytes);
  return excess === undefined ? line : refused(readEnds(line.bytes), excess);
}

function refused(head: RpcHead, what: string): RefusedLine {
  return {
    kind: "refused",
    ...head,
    error: { code: INVALID_REQUEST, message: `the message ${what}` },
  };
}

export function boundLines({
  maxBytes,
  onDropped,
}: {
  maxBytes: number;
  onDropped: (reason: string) => void;
}): TransformStream<Uint8Array, Uint8Array> {
  const cutter = new LineCutter({ maxBytes });
  const bytesOf = (line: Line): Buffer => {
    const taken = bounded(line, maxBytes);
    if (taken.kind === "line") return taken.bytes;
    onDropped(taken.error.message);
    return Buffer.from(JSON.stringify(inPlaceOf(taken)));
  };
  return new TransformStream({
    transform(chunk, controller) {
      const { buffer, byteOffset, byteLength } = chunk;
      for (const line of cutter.push(Buffer.from(buffer, byteOffset, byteLength))) {
        controller.enqueue(bytesOf(line));
        controller.enqueue(LINE_END);
      }
    },
    flush(controller) {
      for (const line of cutter.end()) controller.enqueue(bytesOf(line));
    },
  });
}

/** `null` if the id is not known; the SDK answers that as an invalid request. */
function inPlaceOf({ id, isAnswer, error }: RefusedLine): object | null {
  if (id === undefined) return null;
  return { jsonrpc: "2.0", id, ...(isAnswer ? { error } : { method: REFUSED, params: error }) };
}
