// Takes a lock again and again. argv: the URL of the compiled modules, the lock's path, the path of a
// counter, how often. With 0 it takes the lock once, says so, and keeps it.

import { readFile, writeFile } from "node:fs/promises";

const [, , modules = "", path = "", counter = "", times = "0"] = process.argv;
const { withLock } = await import(`${modules}/core/state/lock.js`);
const { systemClock } = await import(`${modules}/util/clock.js`);

if (times === "0") {
  await withLock(path, systemClock, () => {
    process.stdout.write('"held"\n');
    return new Promise(() => setInterval(() => {}, 1000));
  });
}
for (let round = 0; round < Number(times); round += 1) {
  await withLock(path, systemClock, async () => {
    const value = Number(await readFile(counter, "utf8"));
    await writeFile(counter, String(value + 1));
  });
}
process.stdout.write('"done"\n');
