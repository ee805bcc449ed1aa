// Every command, in the groups of `plugboard --help`. Each family has a folder, where its commands are written down.

import { COMMANDS as ACP } from "./acp/command.ts";
import { COMMANDS as APPROVALS } from "./approvals/command.ts";
import { COMMANDS as ASK } from "./ask/command.ts";
import { COMMANDS as AUDIT } from "./audit/command.ts";
import { COMMANDS as CALL } from "./call/command.ts";
import { COMMANDS as COMPLETION } from "./completion/command.ts";
import { COMMANDS as CONNECT } from "./connect/command.ts";
import { COMMANDS as CONTENT } from "./content/command.ts";
import { COMMANDS as CONTROL } from "./control/command.ts";
import { COMMANDS as DEMO } from "./demo/command.ts";
import { COMMANDS as DEPLOY } from "./deploy/command.ts";
import { COMMANDS as DOCTOR } from "./doctor/command.ts";
import { COMMANDS as GENERATE_CLI } from "./generate-cli/command.ts";
import { COMMANDS as HELP } from "./help/command.ts";
import { COMMANDS as IMPORT } from "./import/command.ts";
import { COMMANDS as LOGIN } from "./login/command.ts";
import { COMMANDS as LOGS } from "./logs/command.ts";
import { COMMANDS as OPENCLAW } from "./openclaw/command.ts";
import { COMMANDS as PINS } from "./pins/command.ts";
import { COMMANDS as RECORDING } from "./recording/command.ts";
import { COMMANDS as RELOAD } from "./reload/command.ts";
import { COMMANDS as SECRETS } from "./secrets/command.ts";
import { COMMANDS as SERVE } from "./serve/command.ts";
import { COMMANDS as SERVERS } from "./servers/command.ts";
import { COMMANDS as STATUS } from "./status/command.ts";
import { COMMANDS as TOKENS } from "./tokens/command.ts";
import { COMMANDS as TOOLS } from "./tools/command.ts";
import { COMMANDS as TRACE } from "./trace/command.ts";
import { COMMANDS as TRUST } from "./trust/command.ts";
import { COMMANDS as TYPES } from "./types/command.ts";
import { COMMANDS as UI } from "./ui/command.ts";
import { COMMANDS as UNDO } from "./undo/command.ts";
import { COMMANDS as UP } from "./up/command.ts";
import type { CommandGroup } from "./command.ts";

export const GROUPS: readonly CommandGroup[] = [
  {
    title: "Your servers",
    commands: [
      ...SERVERS,
      ...UNDO,
      ...IMPORT,
      ...CONNECT,
      ...STATUS,
      ...DOCTOR,
      ...LOGIN,
      ...SECRETS,
    ],
  },
  {
    title: "Use them",
    commands: [...TOOLS, ...CALL, ...ASK, ...CONTENT, ...TYPES, ...GENERATE_CLI],
  },
  { title: "See what they say", commands: [...LOGS, ...TRACE, ...RECORDING] },
  { title: "Decide what they may do", commands: [...TRUST, ...PINS, ...APPROVALS, ...AUDIT] },
  {
    title: "Give them to other programs",
    commands: [
      ...SERVE,
      ...UP,
      ...UI,
      ...CONTROL,
      ...RELOAD,
      ...TOKENS,
      ...DEPLOY,
      ...ACP,
      ...OPENCLAW,
    ],
  },
  { title: "More", commands: [...DEMO, ...COMPLETION, ...HELP] },
];
