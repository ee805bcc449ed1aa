// MCP servers for a clawtools registry: registers every tool and keeps the registry in step with the board. A
// registry without `unregister` keeps tools that are gone; calling one returns an error that says so.

import { openBoard } from "../core/board/board.ts";
import type { ModelTool, ModelTools } from "../core/tools/model-tools.ts";
import type { SchemaProvider } from "../core/tools/schema/normalize.ts";
import { withoutPatterns } from "../core/tools/without-patterns.ts";
import { loadConfig, loadConfigContent, type LoadConfigOptions } from "../core/config/load.ts";
import type { AgentConfig, BoardConfig } from "../core/types/agent-config.ts";
import type { Board } from "../core/types/board.ts";
import type { BoardOptions } from "../core/types/board-options.ts";
import { isJsonObject, type JsonObject } from "../core/types/json.ts";
import {
  FUNCTION,
  NUMBER,
  OBJECT,
  objectWith,
  requireKind,
  requireOptions,
  SAMPLING,
} from "../core/types/kinds.ts";
import type { OnSampling } from "../core/types/sampling.ts";
import type { ServerStateKind } from "../core/types/server-state.ts";
import type { ToolResult, ToolSource } from "../core/types/tool.ts";
import { errorMessage } from "../util/error-message.ts";
import {
  type AgentToolErrors,
  type AgentToolResult,
  executeAgentTool,
  toAgentToolResult,
} from "./agent-tool.ts";
import { type AdapterOptions, boardTools, requireProvider, rulesFor } from "./board-tools.ts";

export type ClawToolResult = AgentToolResult;

export interface ClawTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: JsonObject;
  /** What the server says about the tool, such as `readOnlyHint` and `destructiveHint`. */
  readonly annotations?: JsonObject;
  /** The tool itself, or a rule of the configuration, keeps it for the owner. It is there only with `owner: true`. */
  readonly ownerOnly?: boolean;
  /** The server that the tool is from and its name there, or `native`. */
  readonly source: ToolSource;
  execute(
    toolCallId: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    onUpdate?: (partial: ClawToolResult) => void,
  ): Promise<ClawToolResult>;
}

export interface ClawToolRegistry {
  register(tool: ClawTool): unknown;
  /** With it, tools that are gone are removed from the registry; without it, they stay and answer with an error. */
  unregister?(name: string): unknown;
}

/** A registry is no prompt, so it has all tools and no search. */
interface RegistryOptions extends Omit<AdapterOptions, "toolSearch"> {
  /** Whose rules the schemas follow. Default "generic". */
  provider?: SchemaProvider;
  /** What a failed call does: `return` (the default) a result with `isError`, or `throw`. */
  errors?: AgentToolErrors;
}

export interface LoadOptions
  extends
    RegistryOptions,
    Pick<
      BoardOptions,
      | "native"
      | "roots"
      | "signal"
      | "logger"
      | "stateDir"
      | "onApproval"
      | "onElicitation"
      | "owner"
    > {
  /**
   * The working directory of servers that have no `cwd`, and their root, unless `roots` here or in the configuration
   * says otherwise.
   */
  workspaceDir?: string;
  /** Called with the server whose tools have changed, after the registry was updated. */
  onToolsChanged?: (serverId: string) => void;
  /**
   * Asks a model for a server. With it, `sampling` defaults to `ask` for every server; without it, no server
   * may ask.
   */
  onSamplingRequest?: OnSampling;
}

/** The content of another application's file, as `JSON.parse` gives it. */
export type FileContent = { readonly [key: string]: unknown } & (
  | { readonly mcpServers: object }
  | { readonly servers: object; readonly inputs: readonly unknown[] }
  | { readonly context_servers: object }
  | { readonly mcp_servers: object }
  | { readonly mcp: object }
  | { readonly agents: object }
);

export type ConnectionStatus = "connected" | "connecting" | "disconnected" | "error";

export interface MCPToolProvider {
  /** The board behind the registry, with resources, prompts and full states. */
  readonly board: Board;
  /** Asks every server for its tools again; resolves when the registry has them. */
  refresh(): Promise<void>;
  status(): Record<string, ConnectionStatus>;
  /** Takes the tools out of the registry. Idempotent; resolves when no process is left. */
  close(): Promise<void>;
}

const TOOL_NAMES = "{server}__{tool}";

const STATUS: Readonly<Record<ServerStateKind, ConnectionStatus>> = {
  ready: "connected",
  starting: "connecting",
  idle: "disconnected",
  disabled: "disconnected",
  stopping: "disconnected",
  stopped: "disconnected",
  // There will be another attempt, but until then the server does not work.
  backoff: "error",
  failed: "error",
  "needs-auth": "error",
  untrusted: "error",
};

/**
 * `config` has servers by name, is the path of a file, or has the content of another application's file. Rejects for an
 * invalid configuration, but not for a server that cannot be started.
 */
export async function loadMCPServers(
  config: BoardConfig | FileContent | string,
  registry: ClawToolRegistry,
  options: LoadOptions = {},
): Promise<MCPToolProvider> {
  requireKind("the registry", registry, objectWith("an object with register", "register"));
  requireOptions<LoadOptions>(options, {
    onToolsChanged: FUNCTION,
    onSamplingRequest: SAMPLING,
    onDiagnostic: FUNCTION,
    contextWindow: NUMBER,
  });
  if (typeof config !== "string") requireKind("the configuration", config, OBJECT);
  const { onToolsChanged, onSamplingRequest, onDiagnostic, ...other } = options;
  const { errors, provider = "generic", contextWindow, ...boardOptions } = other;
  requireProvider(provider);
  const hasModel = onSamplingRequest !== undefined;
  const asksForRoots = boardOptions.workspaceDir !== undefined && { roots: true };
  const preset = { toolNames: TOOL_NAMES, ...asksForRoots };
  const board = await openBoard(
    typeof config === "string" || isFileContent(config)
      ? await readAgent(config, preset, hasModel)
      : { ...preset, ...(hasModel ? withSampling(config) : config) },
    hasModel ? { ...boardOptions, onSampling: onSamplingRequest } : boardOptions,
  );
  const sync = new RegistrySync(board, registry, {
    onDiagnostic,
    contextWindow,
    errors,
    provider,
  });
  board.on("tools", () => {
    for (const server of sync.update()) onToolsChanged?.(server);
  });
  sync.update();
  // The board closes with it too. It may have been aborted while the board opened.
  const end = (): void => sync.end();
  if (options.signal?.aborted) end();
  else options.signal?.addEventListener("abort", end, { once: true });
  return {
    board,
    refresh: async () => void (await board.refresh()),
    status: () =>
      Object.fromEntries(board.status().map(({ name, state }) => [name, STATUS[state.kind]])),
    close: () => {
      options.signal?.removeEventListener("abort", end);
      end();
      return board.close();
    },
  };
}

/** Blocks with servers that a configuration in code does not have. */
const FILE_BLOCKS = ["mcpServers", "inputs", "context_servers", "mcp_servers", "mcp", "agents"];

function isFileContent(config: BoardConfig | FileContent): config is FileContent {
  return isJsonObject(config) && FILE_BLOCKS.some((block) => Object.hasOwn(config, block));
}

async function readAgent(
  config: FileContent | string,
  { toolNames, roots }: { toolNames: string; roots?: boolean },
  hasModel: boolean,
): Promise<AgentConfig> {
  const options: LoadConfigOptions = hasModel ? { serverDefaults: { sampling: "ask" } } : {};
  const agent =
    typeof config === "string"
      ? await loadConfig(config, undefined, options)
      : await loadConfigContent(config, undefined, options);
  return {
    ...agent,
    ...(!agent.hasToolNames && { toolNames }),
    ...(agent.roots === undefined && roots !== undefined && { roots }),
  };
}

/** Leaves values that are not servers alone: the configuration check reports them. */
function withSampling(config: BoardConfig): BoardConfig {
  if (!isJsonObject(config.servers)) return config;
  const servers = Object.entries(config.servers).map(
    ([name, server]) =>
      [name, isJsonObject(server) ? { sampling: "ask" as const, ...server } : server] as const,
  );
  return { ...config, servers: Object.fromEntries(servers) };
}

interface RegisteredTool {
  tool: ClawTool;
  server: string;
  /** The board's tool now, or when it was last listed. */
  modelTool: ModelTool;
  isGone: boolean;
}

class RegistrySync {
  readonly #tools: ModelTools;
  readonly #registry: ClawToolRegistry;
  readonly #options: RegistryOptions;
  readonly #registered = new Map<string, RegisteredTool>();
  #isEnded = false;

  constructor(board: Pick<Board, "tools">, registry: ClawToolRegistry, options: RegistryOptions) {
    const { provider = "generic" } = options;
    const providers = rulesFor(provider);
    const rules = { providers, keepsNames: true } as const;
    this.#tools = boardTools(board, rules, { ...options, toolSearch: "off" }).tools;
    this.#registry = registry;
    this.#options = options;
  }

  /** Takes all tools out of the registry. One that cannot forget them has tools whose calls fail. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const registered of this.#registered.values()) {
      if (registered.isGone) continue;
      this.#attempt(registered, () => this.#registry.unregister?.(registered.tool.name));
    }
  }

  /** Brings the registry in step with the board and returns the servers whose tools have changed. */
  update(): Set<string> {
    if (this.#isEnded) return new Set();
    const listed = this.#tools.list();
    return new Set([...this.#removeMissing(listed), ...this.#registerChanged(listed)]);
  }

  #removeMissing(listed: ReadonlyMap<string, ModelTool>): string[] {
    return [...this.#registered.values()].flatMap((registered) => {
      const { tool, server, isGone } = registered;
      if (isGone || listed.has(tool.name)) return [];
      registered.isGone = true;
      this.#attempt(registered, () => this.#registry.unregister?.(tool.name));
      return [server];
    });
  }

  #registerChanged(listed: ReadonlyMap<string, ModelTool>): string[] {
    return [...listed.values()].flatMap((modelTool) => {
      const known = this.#registered.get(modelTool.name);
      if (known?.modelTool === modelTool && !known.isGone) return [];
      const registered = known ?? this.#create(modelTool);
      registered.modelTool = modelTool;
      registered.isGone = false;
      // A registry with `unregister` may hold a copy of the tool; any other still has our object, which is live.
      const isNeeded = known === undefined || this.#registry.unregister !== undefined;
      if (isNeeded) this.#attempt(registered, () => this.#registry.register(registered.tool));
      return [registered.server];
    });
  }

  #create(modelTool: ModelTool): RegisteredTool {
    const { source } = modelTool.tool;
    const registered: RegisteredTool = {
      tool: toClawTool(modelTool, () => registered, this.#options.errors ?? "return"),
      server: source.kind === "mcp" ? source.server : source.kind,
      modelTool,
      isGone: false,
    };
    this.#registered.set(modelTool.name, registered);
    return registered;
  }

  /** A tool that the registry refuses must not cost the others. */
  #attempt({ server, tool }: RegisteredTool, change: () => unknown): void {
    try {
      change();
    } catch (error) {
      const reason = errorMessage(error);
      const message = `the registry did not take the change (${reason})`;
      this.#options.onDiagnostic?.({ server, subject: tool.name, message });
    }
  }
}

/** Reads everything that can change through `current`, so that the registered object stays up to date. */
function toClawTool(
  { name, tool: { source } }: ModelTool,
  current: () => RegisteredTool,
  errors: AgentToolErrors,
): ClawTool {
  return {
    name,
    source,
    get ownerOnly() {
      return current().modelTool.tool.ownerOnly;
    },
    get label() {
      return current().modelTool.tool.label;
    },
    get description() {
      return current().modelTool.description;
    },
    get annotations() {
      return current().modelTool.tool.annotations;
    },
    get parameters() {
      return withoutPatterns(current().modelTool.schema);
    },
    async execute(toolCallId, params, signal, onUpdate) {
      const { isGone, server, modelTool } = current();
      if (isGone) return toAgentToolResult(goneResult(name, server), errors);
      return executeAgentTool(modelTool, { toolCallId, params, signal, onUpdate }, errors);
    },
  };
}

function goneResult(name: string, server: string): ToolResult {
  const text = `'${name}' is gone: server '${server}' does not offer it any more; use another tool`;
  return { content: [{ type: "text", text }], isError: true };
}
