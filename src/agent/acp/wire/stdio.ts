// Stdin and stdout as the protocol's streams. A message that is too large is replaced by a short one: otherwise it would
// end the connection, and every session with it.

import type { Writable } from "node:stream";
import { RequestError } from "@agentclientprotocol/sdk";

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

const NEWLINE = 0x0a;
/** Clients put a message's id before `params` or `result`, so its beginning is enough to find the id. */
const HEAD_BYTES = 1024;

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
  /** The line that has not ended yet; only its first bytes once it is too long. */
  let held: Uint8Array[] = [];
  let size = 0;

  const hold = (part: Uint8Array): void => {
    const wasTooLong = size > maxBytes;
    size += part.length;
    if (wasTooLong) return;
    held.push(part);
    if (size > maxBytes) held = [Buffer.concat(held, Math.min(size, HEAD_BYTES))];
  };

  const end = (emit: (part: Uint8Array) => void): void => {
    if (size > maxBytes) {
      const head = new TextDecoder().decode(held[0]);
      emit(new TextEncoder().encode(`${JSON.stringify(standIn(head, maxBytes))}\n`));
      onDropped();
    } else {
      held.forEach(emit);
    }
    held = [];
    size = 0;
  };

  return new TransformStream({
    transform(chunk, controller) {
      const emit = (part: Uint8Array): void => controller.enqueue(part);
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        hold(chunk.subarray(start, at + 1));
        end(emit);
        start = at + 1;
      }
      if (start < chunk.length) hold(chunk.subarray(start));
    },
    flush: (controller) => end((part) => controller.enqueue(part)),
  });
}

/** `null` if the id is not in the head; the SDK answers that as an invalid request. */
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
    if (key === "id") id = JSON.parse(value);
  }
  return { id, next: undefined };
}
