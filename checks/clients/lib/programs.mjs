// The clients as programs: how each is started, and a run of one with all that it said.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { runProgram } from "../../lib/run-program.mjs";

const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));
const NODE = `${MODULES}node24/bin/node`;
/** For a run that hangs. */
const KILL_MS = 60_000;

const CLAUDE = "@anthropic-ai/claude-code";
const CODEX = "@openai/codex";
const GEMINI = "@google/gemini-cli";

/** Command and first arguments. */
export const claude = [`${MODULES}${CLAUDE}/bin/claude.exe`];
export const codex = [NODE, `${MODULES}${CODEX}/bin/codex.js`];
export const gemini = [NODE, `${MODULES}${GEMINI}/bundle/gemini.js`];

export function versions() {
  return `Claude Code ${versionOf(CLAUDE)}, Gemini CLI ${versionOf(GEMINI)}, Codex ${versionOf(CODEX)} on Node ${versionOf("node24")}`;
}

/** Resolves to all that it said. Rejects with it unless it ends with 0. */
export async function run(command, args, { cwd, env }) {
  const { code, signal, said } = await runProgram(command, args, { cwd, env, killMs: KILL_MS });
  if (code === 0) return said;
  throw new Error(`${args.join(" ")} ended with ${code ?? signal}:\n${said}`);
}

function versionOf(name) {
  return JSON.parse(readFileSync(`${MODULES}${name}/package.json`, "utf8")).version;
}
