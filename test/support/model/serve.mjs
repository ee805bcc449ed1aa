// The scripted model as a program. The script is a JSON file with a list of turns:
//   node test/support/model/serve.mjs script.json [port]
// It prints its URL and ends with its stdin, or with Ctrl-C.

import { readFile } from "node:fs/promises";
import { startModel } from "./start.mjs";

const [file, port] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node test/support/model/serve.mjs script.json [port]");
  process.exit(2);
}
const turns = JSON.parse(await readFile(file, "utf8"));
const model = await startModel({ turns, port: Number(port ?? 0) });
console.log(model.url);

process.stdin.resume();
for (const event of ["end", "close"]) process.stdin.once(event, () => void model.close());
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    process.stdin.destroy();
    void model.close();
  });
}
