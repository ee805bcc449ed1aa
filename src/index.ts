// The public surface. What is not exported here is free to change.

export { openBoard } from "./board.ts";
export { loadConfig } from "./config/load.ts";
export { PlugboardError } from "./model/errors.ts";
export type { BoardConfig } from "./config/parse.ts";
export type { ServerConfig } from "./config/server-config.ts";
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
export type { ElicitationAnswer, ElicitationRequest, OnElicitation } from "./model/elicitation.ts";
export type { ErrorCode } from "./model/errors.ts";
export type { BoardEvents, CallEvent, ServerEvent, ToolsEvent } from "./model/events.ts";
export type { ExternalContent, ModelDetails } from "./model/external-content.ts";
export type { JsonObject } from "./model/json.ts";
export type { Logger, LogLevel } from "./model/logger.ts";
export type { ServerDefinition } from "./model/server-definition.ts";
export type { ServerState, ServerStateKind } from "./model/server-state.ts";
export type { ServerStatus } from "./model/server-status.ts";
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
