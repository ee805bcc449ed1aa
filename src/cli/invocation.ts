// What a command line asks for, once it has been read.

import type { AcpCommand } from "./acp/command.ts";
import type { ApprovalsCommand } from "./approvals/command.ts";
import type { AskCommand } from "./ask/command.ts";
import type { AuditCommand } from "./audit/command.ts";
import type { CallCommand, ToolHelpCommand } from "./call/command.ts";
import type { CompletionCommand } from "./completion/command.ts";
import type { ConnectCommand } from "./connect/command.ts";
import type { ContentCommand } from "./content/command.ts";
import type { DownCommand, RestartCommand } from "./control/command.ts";
import type { GlobalOptions } from "./context.ts";
import type { HelpCommand } from "./help/command.ts";
import type { DoctorCommand } from "./doctor/command.ts";
import type { GenerateCliCommand } from "./generate-cli/command.ts";
import type { ImportCommand } from "./import/command.ts";
import type { LoginCommand, LogoutCommand } from "./login/command.ts";
import type { OpenclawCommand } from "./openclaw/command.ts";
import type { PinsCommand } from "./pins/command.ts";
import type { RecordCommand, ReplayCommand } from "./recording/command.ts";
import type { ReloadCommand } from "./reload/command.ts";
import type { SecretsCommand } from "./secrets/command.ts";
import type { ServersCommand } from "./servers/command.ts";
import type { ServerCliCommand } from "./server-cli/run.ts";
import type { ServeCommand } from "./serve/command.ts";
import type { StatusCommand } from "./status/command.ts";
import type { TokensCommand } from "./tokens/command.ts";
import type { ToolsCommand } from "./tools/command.ts";
import type { TraceCommand } from "./trace/command.ts";
import type { TrustCommand } from "./trust/command.ts";
import type { TypesCommand } from "./types/command.ts";
import type { UpCommand } from "./up/command.ts";

export type CliCommand =
  | { kind: "overview" }
  | ServersCommand
  | ImportCommand
  | ConnectCommand
  | ToolsCommand
  | CallCommand
  | ToolHelpCommand
  | AskCommand
  | ContentCommand
  | TypesCommand
  | GenerateCliCommand
  | ServerCliCommand
  | StatusCommand
  | DoctorCommand
  | TraceCommand
  | RecordCommand
  | ReplayCommand
  | LoginCommand
  | LogoutCommand
  | TrustCommand
  | SecretsCommand
  | TokensCommand
  | PinsCommand
  | ApprovalsCommand
  | AuditCommand
  | AcpCommand
  | OpenclawCommand
  | ServeCommand
  | UpCommand
  | RestartCommand
  | ReloadCommand
  | DownCommand
  | CompletionCommand
  | HelpCommand
  | { kind: "demo" };

export type Invocation =
  | { kind: "run"; command: CliCommand; options: GlobalOptions }
  /** Help, the version or a usage error, which has been printed. With --json, `error` says what is wrong, and `hint` what to do. */
  | { kind: "answered"; exitCode: number; error?: string; hint?: string | undefined };
