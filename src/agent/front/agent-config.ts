// Configuration files for agents that never read the servers of an ACP session: one directory for each process, with
// a file that names the session's board. Your own files are read, never changed.

import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { bearerToken } from "../../core/net/bearer.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import {
  makeOwnedDirectory,
  removeLeftBehind,
  tryRemove,
} from "../../core/state/owned-directory.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readRegularFile } from "../../util/regular-file.ts";
import { findTsagent, withBoardEntry } from "./tsagent.ts";

/** `tsagent` has a format of its own; everybody else gets a template filled in. */
export type AgentConfigFormat = { kind: "tsagent" } | { kind: "template"; file: string };

/** Where an agent reaches the board of its session: either will do. */
export interface BoardAddress {
  http: { url: string; headers: readonly { name: string; value: string }[] };
  stdio: {
    command: string;
    args: readonly string[];
    env: readonly { name: string; value: string }[];
  };
}

export interface AgentConfigBase {
  /** The working directory of the agent, which relative paths in its command start from. */
  cwd: string;
  /** Where the directories are made. The system's temporary directory unless a test says otherwise. */
  parent?: string;
}

export interface WrittenAgentConfig {
  /** How the agent is started with the files. */
  command: string[];
  /** Idempotent. Never rejects. */
  remove(): Promise<void>;
}

/** For the user of an agent that got the file, and has not connected. */
export const FILE_IGNORED =
  "because it does not read the file that was made for it, or could not reach the board. See its log, and whether " +
  "--agent-config names its format (docs/front.md).";

const PREFIX = "plugboard-agent-";
const CONFIG = "{config}";

/** Rejects with CONFIG_INVALID unless this command can be started with files of this format. */
export async function checkAgentConfig(
  format: AgentConfigFormat,
  command: readonly string[],
  base: AgentConfigBase,
): Promise<void> {
  await plan(format, undefined, command, base);
}

/**
 * Writes the files for one process and says how it is started with them. Without an address, the board is not in
 * them: for a process that only answers `initialize`. Rejects with CONFIG_INVALID as `checkAgentConfig` does, or with
 * SYSTEM_ERROR if nothing can be written.
 */
export async function writeAgentConfig(
  format: AgentConfigFormat,
  board: BoardAddress | undefined,
  command: readonly string[],
  base: AgentConfigBase,
): Promise<WrittenAgentConfig> {
  const planned = await plan(format, board, command, base);
  let directory: string | undefined;
  try {
    directory = await makeOwnedDirectory(base.parent ?? tmpdir(), PREFIX);
    for (const { path, text } of planned.files) {
      const file = join(directory, path);
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, text, { flag: "wx", mode: 0o600 });
    }
  } catch (error) {
    if (directory !== undefined) await tryRemove(directory);
    throw new PlugboardError(
      "SYSTEM_ERROR",
      `the configuration for the agent cannot be written: ${errorMessage(error)}`,
      { cause: error },
    );
  }
  const made = directory;
  return { command: planned.commandWith(made), remove: () => tryRemove(made) };
}

/** Removes what fronts have left behind that were killed. Never rejects. */
export function removeLeftAgentConfigs(parent = tmpdir()): Promise<void> {
  return removeLeftBehind(parent, PREFIX);
}

interface Plan {
  /** Paths are relative to the directory. */
  files: { path: string; text: string }[];
  commandWith(directory: string): string[];
}

function plan(
  format: AgentConfigFormat,
  board: BoardAddress | undefined,
  command: readonly string[],
  base: AgentConfigBase,
): Promise<Plan> {
  return format.kind === "tsagent"
    ? planTsagent(board, command, base)
    : planTemplate(resolve(base.cwd, format.file), board, command);
}

async function planTsagent(
  board: BoardAddress | undefined,
  command: readonly string[],
  { cwd }: AgentConfigBase,
): Promise<Plan> {
  const { position, isDirectory, file, others } = await findTsagent(command, cwd);
  const text = withBoardEntry(file, board);
  const name = basename(file.path);
  return {
    files: [{ path: name, text }, ...others],
    commandWith: (directory) =>
      command.with(position, isDirectory ? directory : join(directory, name)),
  };
}

async function planTemplate(
  path: string,
  board: BoardAddress | undefined,
  command: readonly string[],
): Promise<Plan> {
  const template = await readRegularFile(path).catch((error: unknown) => {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the template ${path} cannot be read: ${hasErrorCode(error, "ENOENT") ? "there is no such file" : errorMessage(error)}`,
      { hint: "--agent-config takes the path of a template, or 'tsagent'", cause: error },
    );
  });
  const name = basename(path);
  if (!command.some((word) => word.includes(CONFIG))) {
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the agent's command does not say where its configuration goes: \`${command.join(" ")}\``,
      {
        hint: `write ${CONFIG} where the path of the file belongs, as in \`my-agent --config ${CONFIG}\``,
      },
    );
  }
  const text = fillTemplate(template, path, board ?? NOWHERE);
  return {
    files: [{ path: name, text }],
    commandWith: (directory) =>
      // A replacement that is a text could have words of its own, such as `$&` in the name of a file.
      command.map((word) => word.replaceAll(CONFIG, () => join(directory, name))),
  };
}

/** Fails at once, whatever the agent tries: it is for a process that never gets a session. */
const NOWHERE: BoardAddress = {
  http: { url: "http://127.0.0.1:9/", headers: [] },
  stdio: { command: process.execPath, args: ["--eval", "process.exit(1)"], env: [] },
};

/** `{{word}}` stands for `{word}`. */
const PLACEHOLDER = /\{\{([A-Za-z]+)\}\}|\{([A-Za-z]+)\}/g;

/** What has to be in a template together, or the agent cannot connect. */
const WAYS = [
  {
    sign: "url",
    needs: ["token"],
    hint: 'the agent has to send the header "Authorization: Bearer {token}"; one that cannot takes {command}, {args} and {env}',
  },
  {
    sign: "command",
    needs: ["args", "env"],
    hint: "{args} is a list and {env} an object, both in JSON",
  },
];

/** Texts are escaped for double quotes, which JSON, YAML and TOML agree about; lists and objects are JSON. */
function fillTemplate(template: string, path: string, board: BoardAddress): string {
  const { command, args, env } = board.stdio;
  const values = new Map([
    ["url", escaped(board.http.url)],
    ["token", escaped(tokenOf(board))],
    ["command", escaped(command)],
    ["args", JSON.stringify(args)],
    ["env", JSON.stringify(Object.fromEntries(env.map(({ name, value }) => [name, value])))],
  ]);
  const found = new Set<string>();
  const text = template.replaceAll(PLACEHOLDER, (_, literal?: string, word?: string) => {
    if (word === undefined) return `{${literal}}`;
    const value = values.get(word);
    if (value === undefined) {
      throw new PlugboardError(
        "CONFIG_INVALID",
        `the template ${path} has {${word}}, which is unknown`,
        {
          hint: `use ${listOf([...values.keys()])}; {{${word}}} stands for the words {${word}} themselves`,
        },
      );
    }
    found.add(word);
    return value;
  });
  if (!WAYS.some(({ sign }) => found.has(sign))) {
    throw new PlugboardError("CONFIG_INVALID", `the template ${path} does not name the board`, {
      hint: "write {url} and {token} for an agent that connects over HTTP, or {command}, {args} and {env} for one that starts a program",
    });
  }
  for (const { sign, needs, hint } of WAYS) {
    const missing = needs.filter((word) => found.has(sign) && !found.has(word));
    if (missing.length === 0) continue;
    throw new PlugboardError(
      "CONFIG_INVALID",
      `the template ${path} has {${sign}} but not ${listOf(missing)}`,
      { hint },
    );
  }
  return text;
}

function tokenOf({ http }: BoardAddress): string {
  const header = http.headers.find(({ name }) => name.toLowerCase() === "authorization");
  return bearerToken(header?.value ?? "") ?? "";
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function listOf(words: readonly string[]): string {
  return words.map((word) => `{${word}}`).join(", ");
}
