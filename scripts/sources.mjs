// Lets scripts import modules of src/ that the package does not offer, such as its schemas. Node leaves types out by itself
// from 22.18 on; before, a hook does it.

import { readFile } from "node:fs/promises";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

// The hook runs in a thread of its own, which loads this file too.
if (isMainThread && !process.features.typescript) register(import.meta.url);

/** `path` is relative to src/. */
export function importSource(path) {
  return import(new URL(`../src/${path}`, import.meta.url).href);
}

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { transformSync } = await import("rolldown/utils");
  const path = fileURLToPath(url);
  const { code, errors } = transformSync(path, await readFile(path, "utf8"));
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  return { format: "module", source: code, shortCircuit: true };
}
