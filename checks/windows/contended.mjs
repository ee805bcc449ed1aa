// Runs in Windows' Node, as one file: three processes replace a file a hundred times each while three others read it. Prints how many
// writes fail, with a bare rename and as Plugboard does it, and how often Plugboard's reader finds no file.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { readJsonFile, writeJsonFile } from "../../src/core/state/json-file.ts";

const PROCESSES = 3;
const WRITES = 100;
const LARGEST = 100_000;
const VALUE = { text: "x".repeat(5_000) };

const ROLES = {
  bare: (file) => countFailures(() => renameBare(file)),
  replaced: (file) => countFailures(() => writeJsonFile(file, VALUE)),
  reader: countUnread,
};

const [, script, role, file] = process.argv;
if (role !== undefined) {
  process.stdout.write(String(await ROLES[role](file)));
} else {
  const bare = await contend("bare");
  const { failed, unread } = await contend("replaced");
  process.stdout.write(JSON.stringify({ bare: bare.failed, replaced: failed, unread }));
}

async function contend(writer) {
  const folder = mkdtempSync(join(tmpdir(), "contended-"));
  const path = join(folder, "file.json");
  await writeJsonFile(path, VALUE);
  const readers = several("reader", path);
  const failed = await several(writer, path);
  writeFileSync(`${path}.done`, "");
  const unread = await readers;
  rmSync(folder, { recursive: true });
  return { failed, unread };
}

/** Resolves to the sum of what they print. */
async function several(name, path) {
  const counts = Array.from({ length: PROCESSES }, async () => {
    const child = spawn(process.execPath, [script, name, path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
    return Number.parseInt(printed, 10);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function countFailures(write) {
  let failed = 0;
  for (let written = 0; written < WRITES; written += 1) {
    await write().catch(() => (failed += 1));
  }
  return failed;
}

async function renameBare(path) {
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(VALUE));
  try {
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function countUnread(path) {
  let unread = 0;
  while (!existsSync(`${path}.done`)) {
    if ((await readJsonFile(path, LARGEST)) === undefined) unread += 1;
    await delay(5);
  }
  return unread;
}
