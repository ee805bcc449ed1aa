// The files of the page, as the build has written them: compressed already, and named after their content but for the
// document that names them.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
const DOCUMENT = "index.html";
/** No folders, and nothing that a file system could take for one. */
const NAME = /^[\w-]+\.(html|js|css|svg)$/;

export class PageFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async send(name: string, request: IncomingMessage, reply: ServerResponse): Promise<void> {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return void reply.writeHead(405, { Allow: "GET, HEAD" }).end();
    }
    const file = name === "" ? DOCUMENT : name;
    const [, kind = ""] = NAME.exec(file) ?? [];
    const type = TYPES[kind];
    const encoding = encodingFor(request.headers["accept-encoding"]);
    const path = join(this.#folder, `${file}${encoding?.ending ?? ""}`);
    const size = type === undefined ? undefined : await sizeOf(path);
    if (type === undefined || size === undefined) {
      return void reply.writeHead(404, { "Content-Type": "text/plain" }).end("nothing is here\n");
    }
    reply.writeHead(200, {
      "Content-Type": type,
      "Content-Length": size,
      Vary: "Accept-Encoding",
      "Cache-Control": file === DOCUMENT ? "no-store" : "public, max-age=31536000, immutable",
      ...(encoding && { "Content-Encoding": encoding.name }),
    });
    if (request.method === "HEAD") return void reply.end();
    // A browser that goes away is no failure.
    await pipeline(createReadStream(path), reply).catch(() => {});
  }
}

function encodingFor(
  accepted: string | string[] = "",
): { name: string; ending: string } | undefined {
  const parts = String(accepted).split(",");
  const names = new Set(parts.map((each) => each.trim().split(";")[0]));
  if (names.has("br")) return { name: "br", ending: ".br" };
  return names.has("gzip") ? { name: "gzip", ending: ".gz" } : undefined;
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch {
    return undefined;
  }
}
