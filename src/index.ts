// The public API of the library. Everything that is not exported here may change at any time.

export { openBoard } from "./core/board/board.ts";
export { degradeContent } from "./core/tools/degrade.ts";
export { normalizeSchema } from "./core/tools/schema/normalize.ts";
export { loadConfig } from "./core/config/load.ts";
export { serveMcp } from "./serve/mcp.ts";
export { PlugboardError } from "./core/types/errors.ts";
export type { SupportedContent } from "./core/tools/degrade.ts";
export type { NormalizedSchema, SchemaProvider } from "./core/tools/schema/normalize.ts";
export type { LoadConfigOptions } from "./core/config/load.ts";
export type { ServeMcpOptions } from "./serve/mcp.ts";
export type {
  AgentConfig,
  BoardConfig,
  ModelProvider,
  ModelProviderType,
  NativeModule,
  UntrustedFile,
} from "./core/types/agent-config.ts";
export type {
  ApprovalAnswer,
  ApprovalRequest,
  AskApproval,
  ToolHints,
} from "./core/types/approval.ts";
export type {
  AuthorizationRequest,
  OAuthSettings,
  OnAuthorization,
  SignInRequest,
  SignOutOutcome,
} from "./core/types/authorization.ts";
export type { BoardOptions, SessionOptions, SessionRules } from "./core/types/board-options.ts";
export type {
  Board,
  BoardBase,
  BoardCallOptions,
  ReloadReport,
  ServerInstructions,
  SessionBoard,
} from "./core/types/board.ts";
export type { CallerOptions, InputRequired, InputResponses } from "./core/types/caller-options.ts";
export type { ProtocolEra, RemoteTransportKind, ServerIdentity } from "./core/types/connection.ts";
export type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
  ResourceLinkContent,
  TextContent,
} from "./core/types/content.ts";
export type { Diagnostic } from "./core/types/diagnostic.ts";
export type {
  ElicitationAnswer,
  ElicitationRequest,
  FormElicitation,
  OnElicitation,
  UrlElicitation,
} from "./core/types/elicitation.ts";
export type { ConfigProblem, ErrorCode, ErrorDetails } from "./core/types/errors.ts";
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
} from "./core/types/events.ts";
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
} from "./core/types/guard-settings.ts";
export type { Icon } from "./core/types/icon.ts";
export type { Include, IncludeMode, ToolSearchSetting } from "./core/types/include.ts";
export type { JsonObject } from "./core/types/json.ts";
export type { LogFields, Logger, LogLevel } from "./core/types/logger.ts";
export type {
  BoardPrompts,
  Prompt,
  PromptArgument,
  PromptCompleteOptions,
  PromptDefinition,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "./core/types/prompt.ts";
export type { BoardRedactor, RedactingStream } from "./core/types/redactor.ts";
export type { RequestHandlers } from "./core/types/request-handlers.ts";
export type {
  BoardResources,
  CompleteOptions,
  Completion,
  ListOptions,
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
} from "./core/types/resource.ts";
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
} from "./core/types/sampling.ts";
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
} from "./core/types/secret-provider.ts";
export type {
  AcpServerConfig,
  ServerAuth,
  ServerConfig,
  ServerTransport,
  SessionDefaults,
  SessionServerConfig,
} from "./core/types/server-config.ts";
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
} from "./core/types/server-definition.ts";
export type { McpMessage, McpMessageHooks, SendMcpMessage } from "./core/types/mcp-message.ts";
export type { Embed, SearchOptions, ToolHit, ToolSearch } from "./core/types/search.ts";
export type { Provenance } from "./core/types/server-offer.ts";
export type { ServerLogLevel, ServerLogMessage } from "./core/types/server-log.ts";
export type { ServerState, ServerStateKind } from "./core/types/server-state.ts";
export type { ServerStatus } from "./core/types/server-status.ts";
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
} from "./core/types/tool.ts";
// With a star: a file that `plugboard types` has written adds to `ToolTypes`, and TypeScript merges only into such exports.
export type * from "./core/types/tool-types.ts";
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
} from "./core/types/trace.ts";
