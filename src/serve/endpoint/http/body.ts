// Reads the body of a request: bounded, and as JSON.

import type { IncomingMessage } from "node:http";

export type Body =
  | { kind: "json"; value: unknown }
  | { kind: "not-json" }
  | { kind: "too-large" }
  /** The client went away. */
  | { kind: "gone" };

export function readBody(request: IncomingMessage, maxBytes: number): Promise<Body> {
  const announced = Number(request.headers["content-length"]);
  if (announced > maxBytes) return Promise.resolve({ kind: "too-large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      chunks.length = 0;
      request.pause();
      resolve({ kind: "too-large" });
    });
    request.on("end", () => resolve(parse(chunks)));
    request.on("error", () => resolve({ kind: "gone" }));
    request.on("close", () => resolve({ kind: "gone" }));
  });
}

function parse(chunks: readonly Buffer[]): Body {
  const [only] = chunks;
  const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  try {
    return { kind: "json", value: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { kind: "not-json" };
  }
}
