// The part of OpenClaw's plugin API that the plugin uses, as 2026.9.6 has it. OpenClaw itself is no dependency: the
// plugin is loaded into it, and imports nothing of it.

export interface PluginApi {
  config: OpenClawConfig;
  /** `plugins.entries.plugboard.config`, checked against the manifest's schema. */
  pluginConfig?: Record<string, unknown>;
  /** Where the plugin is installed. */
  rootDir?: string;
  logger: { info(message: string): void; warn(message: string): void };
  runtime?: { config?: { current?: () => OpenClawConfig } };
  registerAgentToolResultMiddleware(
    handler: (event: ToolResultEvent) => { result: ToolResult } | undefined,
    options: { runtimes: ("openclaw" | "codex")[] },
  ): void;
  on(
    hook: "before_prompt_build",
    handler: (event: object, context: PromptContext) => Promise<PromptAddition | undefined>,
    options: { timeoutMs: number },
  ): void;
  registerGatewayMethod(
    method: string,
    handler: (request: GatewayRequest) => Promise<void>,
    options: { scope: "operator.read"; profileAccess: "independent" },
  ): void;
  registerCommand(command: {
    name: string;
    description: string;
    requireAuth: boolean;
    handler: () => Promise<{ text: string }>;
  }): void;
  registerCli(
    registrar: (context: { program: CliCommand; config: OpenClawConfig }) => void,
    options: { descriptors: { name: string; description: string; hasSubcommands: boolean }[] },
  ): void;
  registerService(service: { id: string; start: () => void; stop: () => Promise<void> }): void;
}

/** The keys that matter here. OpenClaw has checked the file; what it says about MCP servers, we check again. */
export interface OpenClawConfig {
  mcp?: { servers?: Record<string, unknown> };
  plugins?: { entries?: Record<string, { hooks?: Record<string, unknown> } | undefined> };
  tools?: ToolRules;
  agents?: {
    entries?: Record<string, { tools?: ToolRules } | undefined>;
    list?: readonly { id?: string; tools?: ToolRules }[];
  };
}

export interface ToolRules {
  deny?: readonly unknown[];
}

export interface ToolResultEvent {
  toolCallId: string;
  toolName: string;
  isError?: boolean;
  result: ToolResult;
}

/** `content` has text and images. For MCP tools, `details` say which server has answered. */
export interface ToolResult {
  content: unknown[];
  details?: unknown;
}

/** What OpenClaw's runner says about the turn whose prompt it builds. */
export interface PromptContext {
  agentId?: string;
  /** In tokens. */
  contextTokenBudget?: number;
}

export interface PromptAddition {
  appendSystemContext: string;
}

interface GatewayRequest {
  respond(ok: boolean, payload?: unknown, error?: { code: string; message: string }): void;
}

/** A command of commander. */
interface CliCommand {
  command(name: string): CliCommand;
  description(text: string): CliCommand;
  option(flags: string, description: string): CliCommand;
  action(run: (options: Record<string, unknown>) => Promise<void>): CliCommand;
}
