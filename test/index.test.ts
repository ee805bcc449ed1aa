// Pins the public API: a name that disappears breaks the code of a user.

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import * as plugboard from "../src/index.ts";
import type * as types from "../src/index.ts";

it("exports exactly these values", () => {
  expect(Object.keys(plugboard).toSorted()).toEqual([
    "PlugboardError",
    "degradeContent",
    "loadConfig",
    "normalizeSchema",
    "openBoard",
    "serveMcp",
  ]);
});

it("exports exactly these types", async () => {
  const source = await readFile(new URL("../src/index.ts", import.meta.url), "utf8");
  const lists = source.matchAll(/^export type \{([^}]*)\} from /gm);
  const names = [...lists].flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()));
  expect(names.filter((name) => name !== "").toSorted()).toEqual([
    "AcpServerConfig",
    "AcpTarget",
    "AgentConfig",
    "AgentGuard",
    "ApprovalAnswer",
    "ApprovalMode",
    "ApprovalRequest",
    "AskApproval",
    "AudioContent",
    "AuditSettings",
    "AuthorizationRequest",
    "AwsSettings",
    "AzureSettings",
    "Board",
    "BoardBase",
    "BoardCallOptions",
    "BoardConfig",
    "BoardEvents",
    "BoardOptions",
    "BoardPrompts",
    "BoardRedactor",
    "BoardResources",
    "CallEvent",
    "CallFailure",
    "CallOutcome",
    "CallStartEvent",
    "CallerOptions",
    "Clock",
    "CompleteOptions",
    "Completion",
    "ConfigProblem",
    "ContentBlock",
    "Diagnostic",
    "ElicitationAnswer",
    "ElicitationRequest",
    "Embed",
    "EndTrace",
    "ErrorCode",
    "ErrorDetails",
    "ExecHelper",
    "ExternalContent",
    "FormElicitation",
    "FramingMode",
    "GcpSettings",
    "Icon",
    "ImageContent",
    "Include",
    "IncludeMode",
    "InputRequired",
    "InputResponses",
    "JsonObject",
    "ListOptions",
    "LoadConfigOptions",
    "LogEvent",
    "LogFields",
    "LogLevel",
    "Logger",
    "McpMessage",
    "McpMessageHooks",
    "ModelDetails",
    "ModelPreferences",
    "ModelProvider",
    "ModelProviderType",
    "NativeModule",
    "NativeTool",
    "NativeToolContext",
    "NativeToolFactory",
    "NativeToolResult",
    "NormalizedSchema",
    "NoticeEvent",
    "OAuthSettings",
    "OnAuthorization",
    "OnElicitation",
    "OnSampling",
    "PerTool",
    "PinMode",
    "PlacedRules",
    "Progress",
    "Prompt",
    "PromptArgument",
    "PromptCompleteOptions",
    "PromptDefinition",
    "PromptMessage",
    "PromptOptions",
    "PromptResult",
    "PromptsEvent",
    "ProtocolChoice",
    "ProtocolEra",
    "Provenance",
    "RedactingStream",
    "ReloadReport",
    "RemoteTarget",
    "RemoteTransportKind",
    "RequestHandlers",
    "Resource",
    "ResourceBlock",
    "ResourceBlockOptions",
    "ResourceContent",
    "ResourceContents",
    "ResourceDefinition",
    "ResourceLinkContent",
    "ResourceOptions",
    "ResourceReadOptions",
    "ResourceReading",
    "ResourceSettings",
    "ResourceTemplate",
    "ResourceTemplateDefinition",
    "ResourcesEvent",
    "SampledMessage",
    "SamplingContent",
    "SamplingHandler",
    "SamplingMessage",
    "SamplingMode",
    "SamplingOptions",
    "SamplingRequest",
    "SamplingTool",
    "SchemaProvider",
    "SearchOptions",
    "SecretContext",
    "SecretProvider",
    "SecretReference",
    "SecretSettings",
    "SendMcpMessage",
    "ServeMcpOptions",
    "ServerAuth",
    "ServerConfig",
    "ServerDefinition",
    "ServerEvent",
    "ServerGuard",
    "ServerIdentity",
    "ServerInstructions",
    "ServerLogLevel",
    "ServerLogMessage",
    "ServerOrigin",
    "ServerScope",
    "ServerState",
    "ServerStateKind",
    "ServerStatus",
    "ServerTarget",
    "ServerTransport",
    "SessionBoard",
    "SessionDefaults",
    "SessionOptions",
    "SessionRules",
    "SessionServerConfig",
    "SignInRequest",
    "SignOutOutcome",
    "StdioTarget",
    "SupportedContent",
    "TextContent",
    "Timer",
    "Tool",
    "ToolHints",
    "ToolHit",
    "ToolResult",
    "ToolResultContent",
    "ToolRules",
    "ToolSearch",
    "ToolSearchSetting",
    "ToolSource",
    "ToolUpdate",
    "ToolUseContent",
    "ToolsEvent",
    "TraceEntry",
    "TraceListener",
    "TraceOptions",
    "TraceSender",
    "TracedCut",
    "TracedHttp",
    "TracedLoss",
    "TracedMessage",
    "TracedNoise",
    "TracedState",
    "TracedStderr",
    "UnmatchedRule",
    "UntrustedFile",
    "UpdateListener",
    "UrlElicitation",
    "VaultSettings",
  ]);
  // Types are exported in no other way, so the list above is complete.
  expect(source).not.toMatch(/export \*|export \{[^}]*\btype /);
});

it("names the type of every callback, so that users can write one on its own", () => {
  const onApproval: types.AskApproval = (
    { tool, hints }: types.ApprovalRequest,
    signal,
  ): types.ApprovalAnswer => {
    const { readOnly = false }: types.ToolHints = hints;
    return readOnly && tool !== "" && !signal?.aborted ? "once" : "refuse";
  };
  const onAuthorization: types.OnAuthorization = async ({
    url,
    redirectUri,
  }: types.AuthorizationRequest) => (url === "" ? redirectUri : undefined);
  const onElicitation: types.OnElicitation = (
    request: types.ElicitationRequest,
  ): types.ElicitationAnswer =>
    request.mode === "form" ? { action: "accept", content: {} } : { action: "decline" };
  const handler: types.SamplingHandler = ({
    messages,
  }: types.SamplingRequest): types.SampledMessage | "declined" =>
    messages.length === 0 ? "declined" : { model: "m", content: { type: "text", text: "" } };
  const sampling: types.SamplingOptions = { handler, tools: true };
  const onSampling: types.OnSampling = sampling;
  const onUpdate: types.UpdateListener = (update: types.ToolUpdate) => void update.progress;
  const native: types.NativeToolFactory = ({ has }: types.NativeToolContext) => {
    const tool: types.NativeTool = {
      name: "now",
      description: "",
      parameters: {},
      execute: (): types.NativeToolResult => ({ content: [] }),
    };
    return has(tool.name) ? undefined : tool;
  };
  const log = (_message: string, _fields?: types.LogFields): void => {};
  const logger: types.Logger = { debug: log, info: log, warn: log, error: log };
  const timer: types.Timer = { cancel() {} };
  const clock: types.Clock = {
    now: () => 0,
    monotonic: () => 0,
    after: () => timer,
    later: () => timer,
  };
  const handlers: types.RequestHandlers = { onElicitation, onSampling };
  const board: types.BoardOptions = {
    ...handlers,
    native: [native],
    onApproval,
    onAuthorization,
    onToolsChanged: (tools: types.Tool[]) => void tools.length,
    logger,
    clock,
  };
  const approval: types.ApprovalMode = "destructive";
  const server: types.ServerConfig = { command: "server", approval };
  const session: types.SessionOptions = { ...handlers, cwd: "/", servers: { server }, onApproval };
  const call: types.BoardCallOptions = { ...handlers, onUpdate };
  const config: types.BoardConfig = { servers: { server } };
  const use = (each: types.BoardBase): types.Tool[] => each.tools();
  const onEither: ((each: types.Board) => types.Tool[]) &
    ((each: types.SessionBoard) => types.Tool[]) = use;
  // The compiler is the test: each value has the type that its place asks for.
  expect([board, session, call, config, onEither]).toHaveLength(5);
});
