// A tool's name as providers take it, where a template for names asked for more than that, `:` for one.

import { createHash } from "node:crypto";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;

export function isProviderName(name: string): boolean {
  return NAME.test(name);
}

/** The name itself where it will do. A hash keeps two others apart. */
export function providerName(name: string): string {
  if (isProviderName(name)) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_LENGTH);
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, LONGEST_NAME - HASH_LENGTH - 1);
  return `${clean}_${hash}`;
}
