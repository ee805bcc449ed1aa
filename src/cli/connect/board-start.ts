// How an application starts the board: Node and the command by their absolute paths, since an application that is started
// from a desktop has a short PATH, and the configuration where it would not be found.

import { realpath } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { ConfigSource } from "../../core/config/find.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { ownBin } from "../../core/config/own-server.ts";
import { parseTemplate } from "../../core/config/schema/references.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { someString } from "../../util/value-strings.ts";
import type { CliContext } from "../context.ts";
import type { BoardStart } from "../../install/applications/applications.ts";

export async function boardStart(
  source: ConfigSource,
  { servers }: AgentConfig,
  { io, options }: CliContext,
): Promise<BoardStart> {
  const { env, homedir } = io;
  const named = source.kind === "file" && source.from !== "home" ? source.path : undefined;
  return {
    command: await nodePath(env["PATH"]),
    args: [
      ownBin(),
      ...(named === undefined ? [] : ["--config", named]),
      ...(options.agent === undefined ? [] : ["--agent", options.agent]),
    ],
    env: env["PLUGBOARD_HOME"] ? { PLUGBOARD_HOME: plugboardHome(env, homedir) } : {},
    variables: [...new Set(servers.filter(({ enabled }) => enabled).flatMap(variablesOf))],
  };
}

/** The name in PATH outlives an update of Node, where the file behind it does not. */
async function nodePath(path = ""): Promise<string> {
  const { execPath } = process;
  const own = await realpath(execPath).catch(() => execPath);
  const name = process.platform === "win32" ? "node.exe" : "node";
  for (const directory of path.split(delimiter).filter(Boolean)) {
    const found = join(directory, name);
    if ((await realpath(found).catch(() => undefined)) === own) return found;
  }
  return execPath;
}

/** The variables of a server that have no default. */
function variablesOf({ target }: AgentConfig["servers"][number]): string[] {
  const names: string[] = [];
  someString(target, (text) => {
    const template = parseTemplate(text);
    for (const part of template.kind === "parts" ? template.parts : []) {
      const isNeeded = part.kind === "variable" && part.fallback === undefined;
      if (isNeeded && !EVERYWHERE.has(part.name)) names.push(part.name);
    }
    return false;
  });
  return names;
}

/** What every application passes on. */
const EVERYWHERE = new Set(["HOME", "PATH", "USER", "LANG", "SHELL", "TMPDIR", "USERPROFILE"]);
