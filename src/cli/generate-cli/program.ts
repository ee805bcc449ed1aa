// The text of a generated command line: the server and its tools as JSON, and a few lines that find Plugboard and run it.

import { escapedJson, escapedJsonLines } from "../../util/visible.ts";
import type { EmbeddedServer } from "../server-cli/embedded.ts";

/** Put together, since the build replaces it in every source where it finds it. */
const HERE = ["import", "meta", "url"].join(".");

/** `bin` is the command of an installation to use where no other is found. */
export function programText(server: EmbeddedServer, bin: string | undefined): string {
  return `#!/usr/bin/env node
// Written by \`plugboard generate-cli\`. Run it again after the server has changed; your edits would be lost.

import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Without a listener, Node opens a debugger at this signal, and whoever reaches its port reads every secret.
process.on("SIGUSR1", () => {});

const SERVER = ${asExpression(server)};

const LIBRARY = "plugboard/server-cli";
const file = fileURLToPath(${HERE});
const library = find();
if (library === undefined) {
  console.error(\`\${file} needs Plugboard, which is not installed or too old\`);
  console.error("hint: to install it:\\n  npm install -g plugboard");
  process.exitCode = 3;
} else {
  const { runServerCli } = await import(pathToFileURL(library));
  process.exitCode = await runServerCli(SERVER, process.argv.slice(2), file);
}

/** Beside this file, or where the \`plugboard\` command is; never in the directory that it happens to run in. */
function find() {
  const directories = (process.env.PATH ?? "").split(delimiter).filter(isAbsolute);
  const commands = directories.flatMap((directory) => [
    join(directory, "plugboard"),
    join(directory, "node_modules", "plugboard", "dist", "bin.cjs"),
  ]);
  for (const from of [file, ...commands${bin === undefined ? "" : `, ${escapedJson(bin)}`}]) {
    try {
      return createRequire(realpathSync(from)).resolve(LIBRARY);
    } catch {
      // Not there.
    }
  }
  return undefined;
}
`;
}

/** In JavaScript, unlike in JSON, `"__proto__": …` is no property. */
function asExpression(value: object): string {
  return escapedJsonLines(value).replace(/(?<!\\)"__proto__"(?=:)/g, '["__proto__"]');
}
