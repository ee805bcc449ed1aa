// The public surface. What is not exported here is free to change.

export { openBoard } from "./board.ts";
export { degradeContent } from "./bridge/degrade.ts";
export { normalizeSchema } from "./bridge/schema/normalize.ts";
export { loadConfig } from "./config/load.ts";
export { PlugboardError } from "./model/errors.ts";
export type { SupportedContent } from "./bridge/degrade.ts";
export type { NormalizedSchema, SchemaProvider } from "./bridge/schema/normalize.ts";
export type { BoardConfig } from "./config/parse.ts";
export type { AgentConfig } from "./model/agent-config.ts";
export type {
  AuthorizationRequest,
  OAuthSettings,
  OnAuthorization,
} from "./model/authorization.ts";
export type { Board, BoardCallOptions } from "./model/board.ts";
export type { BoardOptions } from "./model/board-options.ts";
export type { ConfigProblem } from "./model/config-problem.ts";
export type { ProtocolEra, ServerIdentity } from "./model/connection.ts";
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
export type { ErrorCode } from "./model/errors.ts";
export type {
  BoardEvents,
  CallEvent,
  PromptsEvent,
  ResourcesEvent,
  ServerEvent,
  ToolsEvent,
} from "./model/events.ts";
export type { ExternalContent, ModelDetails } from "./model/external-content.ts";
export type { JsonObject } from "./model/json.ts";
export type { Logger, LogLevel } from "./model/logger.ts";
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
  BoardPrompts,
  Prompt,
  PromptArgument,
  PromptCompleteOptions,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "./model/prompt.ts";
export type {
  BoardResources,
  CompleteOptions,
  Completion,
  Resource,
  ResourceContents,
  ResourceOptions,
  ResourceReading,
  ResourceTemplate,
} from "./model/resource.ts";
export type { ServerConfig, SessionDefaults } from "./model/server-config.ts";
export type { ServerDefinition } from "./model/server-definition.ts";
export type { RequestHandlers } from "./model/server-request.ts";
export type { ServerState, ServerStateKind } from "./model/server-state.ts";
export type { ServerStatus } from "./model/server-status.ts";
export type { SessionBoard, SessionOptions } from "./model/session-board.ts";
export type {
  CallFailure,
  CallOutcome,
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
export type { Clock } from "./util/clock.ts";
