// Stands between the front and an agent, and writes down what the front sends: `node tap.mjs <file> <command …>`.

import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";

const [file, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
process.stdin.pipe(createWriteStream(file, { flags: "a" }));
process.stdin.pipe(child.stdin);
// It has ended, which says enough.
child.stdin.on("error", () => {});
child.once("exit", (code) => {
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => child.kill(signal));
