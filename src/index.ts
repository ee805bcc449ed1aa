// The public API of the library. Everything that is not exported here may change at any time.

export { openBoard } from "./board.ts";
export { degradeContent } from "./bridge/degrade.ts";
export { normalizeSchema } from "./bridge/schema/normalize.ts";
export { loadConfig } from "./config/load.ts";
export { serveMcp } from "./faces/mcp/serve.ts";
export { PlugboardError } from "./model/errors.ts";
export type { SupportedContent } from "./bridge/degrade.ts";
export type { NormalizedSchema, SchemaProvider } from "./bridge/schema/normalize.ts";
export type { LoadConfigOptions } from "./config/load.ts";
export type { ServeMcpOptions } from "./faces/mcp/serve.ts";
export type {
  AgentConfig,
  BoardConfig,
  ModelProvider,
  ModelProviderType,
  NativeModule,
  UntrustedFile,
} from "./model/agent-config.ts";
export type { ApprovalAnswer, ApprovalRequest, AskApproval, ToolHints } from "./model/approval.ts";
export type {
  AuthorizationRequest,
  OAuthSettings,
  OnAuthorization,
  SignInRequest,
  SignOutOutcome,
} from "./model/authorization.ts";
export type { BoardOptions, SessionOptions, SessionRules } from "./model/board-options.ts";
export type {
  Board,
  BoardBase,
  BoardCallOptions,
  ReloadReport,
  ServerInstructions,
  SessionBoard,
} from "./model/board.ts";
export type { CallerOptions, InputRequired, InputResponses } from "./model/caller-options.ts";
export type { ProtocolEra, RemoteTransportKind, ServerIdentity } from "./model/connection.ts";
export type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
  ResourceLinkContent,
  TextContent,
} from "./model/content.ts";
export type { Diagnostic } from "./model/diagnostic.ts";
export type {
  ElicitationAnswer,
  ElicitationRequest,
  FormElicitation,
  OnElicitation,
  UrlElicitation,
} from "./model/elicitation.ts";
export type { ConfigProblem, ErrorCode, ErrorDetails } from "./model/errors.ts";
export type {
  BoardEvents,
  CallEvent,
  CallStartEvent,
  LogEvent,
  NoticeEvent,
  PromptsEvent,
  ResourcesEvent,
  ServerEvent,
  ToolsEvent,
} from "./model/events.ts";
export type {
  AgentGuard,
  ApprovalMode,
  AuditSettings,
  FramingMode,
  PerTool,
  PinMode,
  PlacedRules,
  ServerGuard,
  ToolRules,
  UnmatchedRule,
} from "./model/guard-settings.ts";
export type { Icon } from "./model/icon.ts";
export type { Include, IncludeMode, ToolSearchSetting } from "./model/include.ts";
export type { JsonObject } from "./model/json.ts";
export type { LogFields, Logger, LogLevel } from "./model/logger.ts";
export type {
  BoardPrompts,
  Prompt,
  PromptArgument,
  PromptCompleteOptions,
  PromptDefinition,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "./model/prompt.ts";
export type { RequestHandlers } from "./model/request-handlers.ts";
export type {
  BoardResources,
  CompleteOptions,
  Completion,
  Resource,
  ResourceBlock,
  ResourceBlockOptions,
  ResourceContents,
  ResourceDefinition,
  ResourceOptions,
  ResourceReading,
  ResourceReadOptions,
  ResourceTemplate,
  ResourceTemplateDefinition,
} from "./model/resource.ts";
export type {
  ModelPreferences,
  OnSampling,
  SampledMessage,
  SamplingContent,
  SamplingHandler,
  SamplingMessage,
  SamplingMode,
  SamplingOptions,
  SamplingRequest,
  SamplingTool,
  ToolResultContent,
  ToolUseContent,
} from "./model/sampling.ts";
export type {
  AwsSettings,
  AzureSettings,
  ExecHelper,
  GcpSettings,
  SecretContext,
  SecretProvider,
  SecretReference,
  SecretSettings,
  VaultSettings,
} from "./model/secret-provider.ts";
export type {
  AcpServerConfig,
  ServerAuth,
  ServerConfig,
  ServerTransport,
  SessionDefaults,
  SessionServerConfig,
} from "./model/server-config.ts";
export type {
  AcpTarget,
  ServerTarget,
  ProtocolChoice,
  RemoteTarget,
  ResourceSettings,
  ServerDefinition,
  ServerOrigin,
  ServerScope,
  StdioTarget,
} from "./model/server-definition.ts";
export type { McpMessage, McpMessageHooks, SendMcpMessage } from "./model/mcp-message.ts";
export type { Embed, SearchOptions, ToolHit, ToolSearch } from "./model/search.ts";
export type { Provenance } from "./model/server-offer.ts";
export type { ServerLogLevel, ServerLogMessage } from "./model/server-log.ts";
export type { ServerState, ServerStateKind } from "./model/server-state.ts";
export type { ServerStatus } from "./model/server-status.ts";
export type {
  CallFailure,
  CallOutcome,
  ExternalContent,
  ModelDetails,
  NativeTool,
  NativeToolContext,
  NativeToolFactory,
  NativeToolResult,
  Progress,
  Tool,
  ToolResult,
  ToolSource,
  ToolUpdate,
  UpdateListener,
} from "./model/tool.ts";
// With a star: a file that `plugboard types` has written adds to `ToolTypes`, and TypeScript merges only into such exports.
export type * from "./model/tool-types.ts";
export type { Clock, Timer } from "./util/clock.ts";
export type {
  EndTrace,
  TraceEntry,
  TraceListener,
  TraceOptions,
  TraceSender,
  TracedCut,
  TracedHttp,
  TracedLoss,
  TracedMessage,
  TracedNoise,
  TracedState,
  TracedStderr,
} from "./model/trace.ts";
