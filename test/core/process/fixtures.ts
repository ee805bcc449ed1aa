// Where the fixture programs are and how a test talks to them.

import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const directory = new URL("../../fixtures/processes/", import.meta.url);

export function fixture(name: string): string {
  return fileURLToPath(new URL(`${name}.mjs`, directory));
}

/** The first line a fixture writes: who it is, and whom it has started. */
export async function introduction(stdout: Readable): Promise<Record<string, number>> {
  const [chunk] = (await once(stdout, "data")) as [Buffer];
  const said: unknown = JSON.parse(chunk.toString());
  return said as Record<string, number>;
}

export function pidOf(said: Record<string, number>, name: string): number {
  const pid = said[name];
  if (pid === undefined) throw new Error(`the fixture named no ${name}`);
  return pid;
}
