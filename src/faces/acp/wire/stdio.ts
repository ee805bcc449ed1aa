// Keeps one message that is too large from ending the connection, and every session with it: what came is
// dropped as it comes, and a short line takes its place, so that whoever waits for an answer gets one.

import { RequestError } from "@agentclientprotocol/sdk";

/** The method of the request that stands in for one that was too large. */
export const TOO_LARGE = "_plugboard/message_too_large";

const NEWLINE = 0x0a;
/** Enough for what stands before `params` or `result`, which is where clients put a message's id. */
const HEAD_BYTES = 1024;

export interface LineLimit {
  maxBytes: number;
  onDropped: () => void;
}

export function tooLarge(maxBytes: number): RequestError {
  return RequestError.invalidRequest({ maxBytes }, words(maxBytes));
}

export function boundLines({
  maxBytes,
  onDropped,
}: LineLimit): TransformStream<Uint8Array, Uint8Array> {
  /** Of the line that has not ended yet; its head alone once it is too long. */
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

/** `null`, which is answered as no request at all, where the id is not in the head. */
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

/** The message's id, and the first of its keys whose value is more than a word. */
function readHead(head: string): { id: unknown; next: string | undefined } {
  const member = /\s*[{,]\s*"(\w+)"\s*:\s*(?:("[^"\\]*"|-?\d+)\s*(?=,))?/y;
  let id: unknown;
  for (let match = member.exec(head); match !== null; match = member.exec(head)) {
    const [, key, value] = match;
    if (value === undefined) return { id, next: key };
    if (key === "id") id = JSON.parse(value);
  }
  return { id, next: undefined };
}

function words(maxBytes: number): string {
  return `the message is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
}
