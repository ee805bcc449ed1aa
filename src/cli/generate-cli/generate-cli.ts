// `plugboard generate-cli`: writes a command line for one server, as a single file.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, relative, resolve } from "node:path";
import { withReferences } from "../../core/board/without-credentials.ts";
import type { ConfigSource } from "../../core/config/find.ts";
import { ownBin } from "../../core/config/own-server.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { isRemote, type ServerTarget } from "../../core/types/server-definition.ts";
import { ownName, type Tool } from "../../core/types/tool.ts";
import { isOnPath } from "../../util/on-path.ts";
import { plural, shellQuoted, shellWord } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { requireTools } from "../require-tools.ts";
import { writeGenerated } from "../generated-file.ts";
import { withBoard } from "../open.ts";
import { readTypedServer } from "../read-server.ts";
import type { EmbeddedTool } from "../server-cli/embedded.ts";
import { findServer } from "../servers/server-file.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { ownDescription } from "../tools/tool-list.ts";
import { requireReady } from "../typed/require-ready.ts";
import type { GenerateCliRequest } from "./command.ts";
import { programText } from "./program.ts";

export async function runGenerateCli(
  command: GenerateCliRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options, io } = context;
  const { name, config, tools } = await ask(command, context);
  const { server, variables } = withReferences(name, config, new Map());
  const file = command.output ?? `${name.replace(/[^\w.-]+/g, "-")}.mjs`;
  const isFound = canFindLibrary(resolve(io.cwd, file), io.env);
  const text = programText(
    { name, server, tools: tools.map(embedded) },
    isFound ? undefined : ownBin(),
  );
  await writeGenerated(file, text, context, { isProgram: true });
  if (options.json) {
    screen.json({ file, server: name, tools: tools.map(ownName), variables });
    return EXIT.ok;
  }
  const way = isAbsolute(file) || file.startsWith(".") ? file : `./${file}`;
  screen.note(`${plural(tools.length, "command")} in ${visible(file)}, one for each tool`);
  for (const variable of variables) {
    screen.note(`the file has no secrets in it: it reads ${variable} from the environment`);
  }
  if (!isFound) {
    screen.note(
      `it uses ${visible(relativeTo(io.cwd, ownBin()))}; elsewhere: npm install -g plugboard`,
    );
  }
  screen.note("to see them:");
  screen.note(`  ${shellQuoted(way)} --help`);
  return EXIT.ok;
}

interface Asked {
  name: string;
  config: ServerConfig;
  tools: Tool[];
}

async function ask({ server, refresh }: GenerateCliRequest, context: CliContext): Promise<Asked> {
  const { options, argv } = context;
  const start = refresh ? "none" : "unknown";
  return withBoard(
    context,
    { start, server, keepAlive: true },
    async ({ board, agent, source }) => {
      await (refresh
        ? whileStarting(board, context, board.refresh())
        : untilStarted(board, context, { limit: agent.startupWait }));
      requireReady(board, options);
      requireTools(board, context);
      const [definition] = agent.servers;
      if (definition === undefined) throw new Error("a command line is generated for one server");
      const { name, target } = definition;
      const isOwn = ({ source: of }: Tool): boolean => of.kind === "mcp" && of.server === name;
      const tools = board.tools().filter(isOwn);
      const isDisabled = board.status().some(({ state }) => state.kind === "disabled");
      if (tools.length === 0) {
        throw new PlugboardError(
          "UNSUPPORTED",
          `'${visible(name)}' ${isDisabled ? "is disabled" : "has no tools that may be called"}, so there are no commands to write`,
          {
            server: name,
            ...(isDisabled && { hint: `to enable it: plugboard enable ${shellWord(name)}` }),
          },
        );
      }
      const written = options.typed
        ? readTypedServer(options.typed, argv)
        : await writtenServer(name, source, agent, context);
      return { name, config: portable(written ?? fromTarget(target), target, context), tools };
    },
  );
}

/** The entry in the file, with its rules. Undefined if it is in no file of ours. */
async function writtenServer(
  name: string,
  source: ConfigSource,
  agent: AgentConfig,
  context: CliContext,
): Promise<ServerConfig | undefined> {
  if (source.kind !== "file") return undefined;
  try {
    const { server } = await findServer(name, undefined, context);
    return server;
  } catch (error) {
    // Another application's file has entries of another form.
    if (error instanceof PlugboardError) return undefined;
    throw error;
  }
}

function fromTarget(target: ServerTarget): ServerConfig {
  if (target.kind === "stdio") {
    const { command, args, env, cwd } = target;
    return {
      command,
      ...(args.length > 0 && { args }),
      ...(Object.keys(env).length > 0 && { env }),
      ...(cwd !== undefined && { cwd }),
    };
  }
  if (!isRemote(target)) return {};
  const { kind, url, headers, allowInsecure, allowPrivate, oauth, tls } = target;
  return {
    url,
    ...(kind !== "remote" && { type: kind }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(allowInsecure && { allowInsecure }),
    ...(allowPrivate && { allowPrivate }),
    ...(oauth !== undefined && { oauth }),
    ...(tls !== undefined && { tls }),
  };
}

/** The file may be anywhere, so the paths in it must not depend on where the configuration is. */
function portable(config: ServerConfig, target: ServerTarget, { io }: CliContext): ServerConfig {
  const {
    provenance: _,
    enabled: __,
    disabled: ___,
    workingDir,
    ...rest
  } = config as ServerConfig & {
    disabled?: unknown;
  };
  const { baseDir = io.cwd } = target;
  const cwd = rest.cwd ?? workingDir;
  const placed = (path: string): string => (isMovable(path) ? path : resolve(baseDir, path));
  const { tls, command, args } = rest;
  const here = (word: string): string => {
    const path = resolve(io.cwd, word);
    return isScript(word) && existsSync(path) ? path : word;
  };
  return {
    ...rest,
    ...(cwd !== undefined && { cwd: placed(cwd) }),
    ...(command !== undefined && { command: here(command) }),
    // With a directory of its own, the server finds its files from there.
    ...(args !== undefined && { args: cwd === undefined ? args.map(here) : args }),
    ...(tls !== undefined && {
      tls: Object.fromEntries(Object.entries(tls).map(([key, path]) => [key, placed(path)])),
    }),
  };
}

function isMovable(path: string): boolean {
  return isAbsolute(path) || /^~|\$\{/.test(path);
}

/** A file beside which the command was given, rather than a package or a directory to work in. */
function isScript(word: string): boolean {
  return (
    !isMovable(word) && (/^\.{1,2}[\\/]./.test(word) || /\.(?:[cm]?[jt]s|py|rb|sh)$/.test(word))
  );
}

function embedded(tool: Tool): EmbeddedTool {
  const description = ownDescription(tool).trim();
  return {
    name: ownName(tool),
    ...(description !== "" && { description }),
    parameters: tool.parameters,
  };
}

/** Whether the file will find the library by itself. */
function canFindLibrary(file: string, env: CliContext["io"]["env"]): boolean {
  if (isOnPath("plugboard", env, process.platform)) return true;
  try {
    return createRequire(file).resolve("plugboard/server-cli") !== "";
  } catch {
    return false;
  }
}

function relativeTo(cwd: string, file: string): string {
  const path = relative(cwd, file);
  return path.startsWith("..") || isAbsolute(path) ? file : join(".", path);
}
