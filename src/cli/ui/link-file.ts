// A file that leads a browser to a link. Other users of a machine can see a program's arguments, but not read this file: so
// the browser is given the file, and the key of the link stays in it.

import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const NAME = /^page-[\w-]+\.html$/;
/** By then its link no longer works. */
const OLD_MS = 60_000;

export interface LinkFileOptions {
  /** Yours alone. */
  directory: string;
  now: number;
  random: (bytes: number) => Buffer;
}

/** Removes those of earlier links. Resolves to the path. Rejects if the file cannot be written. */
export async function writeLinkFile(
  url: string,
  { directory, now, random }: LinkFileOptions,
): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await removeOld(directory, now);
  const path = join(directory, `page-${random(12).toString("base64url")}.html`);
  // Exclusive: nobody else has put something there that leads elsewhere.
  await writeFile(path, documentFor(url), { flag: "wx", mode: 0o600 });
  return path;
}

async function removeOld(directory: string, now: number): Promise<void> {
  for (const name of (await readdir(directory)).filter((each) => NAME.test(each))) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && now - found.mtimeMs > OLD_MS) await rm(path, { force: true });
  }
}

function documentFor(url: string): string {
  const written = url.replace(/[&"<>]/g, (each) => `&#${each.charCodeAt(0)};`);
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Plugboard</title>',
    '<meta name="referrer" content="no-referrer">',
    `<meta http-equiv="refresh" content="0; url=${written}">`,
    `<p><a href="${written}">Open the page of the gateway</a></p></html>`,
    "",
  ].join("\n");
}
