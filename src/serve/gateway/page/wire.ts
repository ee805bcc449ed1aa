// What the gateway and its page say to each other, as types. The page imports nothing else from the gateway.

import type { StoredApproval, ToolHints } from "../../../core/types/approval.ts";
import type { CallStep, RedactedPart } from "../../../core/types/call-timeline.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { SecretUse } from "../../../core/types/secret-use.ts";
import type { ToolVerdict } from "../../../core/types/tool-verdict.ts";

/** A viewer sees no arguments, results, stderr or names of secrets, and changes nothing. */
export type Role = "owner" | "viewer";

/**
 * The header that every request to the API carries: no form and no link can send it. Its value is the secret that the
 * page got when it signed in, or `1` until then. A cookie alone opens nothing, since a browser also sends it to other
 * ports of this host.
 */
export const API_HEADER = "x-plugboard";

/**
 * Names the gateway that the page looks at, where several share a state: whichever gets a request forwards it. Without it,
 * whichever gets a request answers it.
 */
export const HOME_HEADER = "x-plugboard-home";

/** The code of a failure: the gateway that the page looks at is gone, and nothing was done. */
export const GATEWAY_GONE = "GATEWAY_GONE";

/** How somebody who is not signed in can do so, besides with a link. */
export interface WayIn {
  /** The host of the provider. */
  provider?: string;
}

/** Everything the page shows without being asked for more. It is the first event of a stream. */
export interface Snapshot {
  you: { role: Role; name: string; until: number };
  gateway: GatewayFacts;
  /** Those that the page can look at, where several share a state. */
  gateways: ListedGateway[];
  agents: AgentFacts[];
  servers: ServerFacts[];
  waiting: WaitingCall[];
  changes: ChangedDefinition[];
  /** An edit of the configuration that is not applied, and why. */
  edit?: { kind: "invalid" | "waiting"; message: string };
  /** The last hour, the oldest minute first. */
  minutes: Minute[];
  /** The latest last. */
  calls: CallFacts[];
  people: People;
  /** What servers have written lately, the latest last. Absent for viewers. */
  lines?: ServerLineFacts[];
}

export interface GatewayFacts {
  version: string;
  pid: number;
  /** All times are in milliseconds since the epoch. */
  since: number;
  /** The file. Not for viewers. */
  config?: string;
  /** Where MCP clients reach the default agent. */
  url?: string;
  /** Which one this is, where several share a state: the page shows this one's events. */
  replica?: string;
  /** What the page sends as HOME_HEADER to come back to this one. Absent where others do not reach it. */
  home?: string;
  state: "serving" | "stopping";
}

export interface ListedGateway {
  home: string;
  /** For people. */
  name: string;
}

export interface AgentFacts {
  id: string;
  /** An agent's servers start when somebody asks for the agent for the first time. */
  isOpen: boolean;
  /** Roughly what its tools take of a prompt, without search and as it is. */
  prompt?: { mode: string; before: PromptSize; after: PromptSize };
}

interface PromptSize {
  tools: number;
  tokens: number;
}

export type StateKind =
  | "disabled"
  | "untrusted"
  | "idle"
  | "starting"
  | "ready"
  | "backoff"
  | "needs-auth"
  | "failed"
  | "stopping"
  | "stopped";

export interface ServerFacts {
  agent: string;
  name: string;
  transport: string;
  /** The command line or the URL. Absent for viewers. */
  target?: string;
  state: StateKind;
  /** Each person has it for themselves, and nobody has to do anything here. */
  perUser?: "sign-in" | "exchange";
  /** Since when it is starting or ready, or when it is tried again. */
  at?: number;
  /** Why it is in this state, the error's code, and what to do. */
  why?: string;
  code?: string;
  remedy?: string;
  pid?: number;
  tools: number;
  hiddenByRules: number;
  promptTokens: number;
  restarts: number;
  calls: CallCounts;
  /** Its pins refuse what has changed, or everything since they are lost, until somebody decides. */
  refused?: "changed" | "lost";
}

/** Of all calls since the gateway started, those included that the guard refused. */
interface CallCounts {
  total: number;
  /** They ended with an error, also one that the tool itself reported. */
  failed: number;
  inFlight: number;
  /** How long they have waited for answers, all together. `p50` and `p95` leave that out. */
  waitedMs?: number;
  p50?: number;
  p95?: number;
}

export interface WaitingCall {
  id: string;
  agent: string;
  caller: string;
  tool: string;
  server?: string;
  title?: string;
  description?: string;
  hints: ToolHints;
  /** Whether the labels can be believed. */
  trusted: boolean;
  /** Why somebody has to approve it, and the setting that asks for it. */
  reason: string;
  rule?: string;
  always: "until-changed" | "until-closed";
  /** The call that waits: the page knows its own by it. */
  call: string;
  since: number;
  until: number;
}

/** A definition that differs from the one that was pinned. */
export interface ChangedDefinition {
  server: string;
  key: string;
  /** Absent: the server's instructions. */
  tool?: string;
  kind: "changed" | "new";
  at: number;
  /** Names what is there now: an approval is for this and nothing else. */
  hash: string;
}

/** One part of a definition, as it was approved and as it is. */
interface ChangedPart {
  path: string;
  before?: string;
  after?: string;
}

export interface Minute {
  at: number;
  calls: number;
  errors: number;
}

export interface CallFacts {
  id: string;
  agent: string;
  tool: string;
  server?: string;
  /** The client that made it: its token's name, or what it calls itself. */
  who?: string;
  /** The attached command that made it: `call-4711`. */
  command?: string;
  /** When it was sent; if it never was, when it was made. */
  at: number;
  /** How long it took, without `waitedMs`. Absent while it runs. */
  ms?: number;
  /** How long it waited for answers of people, or of the host's model. */
  waitedMs?: number;
  /** The size of the answer, roughly. */
  bytes?: number;
  /** What the guard decided, and by which rule or setting. */
  verdict?: "allowed" | "approved" | "refused";
  rule?: string;
  outcome?: "ok" | "error" | "refused";
  /** The code and the message of a failure. */
  code?: string;
  message?: string;
}

export interface SecretFacts extends SecretUse {
  agent: string;
}

/** A line of the audit. */
export interface AuditRow {
  type: "call" | "start" | "suspicious" | "lost" | "decision";
  /** In ISO 8601. */
  time: string;
  agent?: string;
  session?: string;
  caller?: string;
  server?: string;
  tool?: string;
  /** Not for viewers. */
  arguments?: JsonObject;
  decision?: string;
  rule?: string;
  durationMs?: number;
  waitedMs?: number;
  bytes?: number;
  outcome?: string;
  patterns?: string[];
  count?: number;
  /** What a person decided. */
  decided?: string;
  /** The call, if it is still kept. */
  call?: string;
}

export interface AuditFound {
  /** The latest first. */
  rows: AuditRow[];
  hasMore: boolean;
  /** The files. Not for viewers. */
  where: string[];
  /** Lines that cannot be read. */
  damaged: number;
}

/** How many lines of the audit a page has, if it does not say. */
export const AUDIT_PAGE = 100;

interface PastStateFacts {
  at: number;
  state: StateKind;
  /** Not for viewers. */
  why?: string;
}

export type { CallStep };

export interface LastingApproval extends StoredApproval {
  /** Who the caller is, for people. */
  label?: string;
}

/** A text that secrets were taken out of, and where they are from. */
export type RedactedText = RedactedPart;

/** What was said in a call, without secrets. Kept in memory while an owner has a page open. */
export interface CallContent {
  args: JsonObject;
  /** As the caller got it. */
  result: PageCallEvents["result"];
  redacted: { args: RedactedText[]; answer: RedactedText[] };
}

/** A line that a server has written, or that the gateway has logged about it. */
export interface ServerLineFacts {
  server: string;
  at: number;
  level: string;
  text: string;
}

export interface People {
  clients: Person[];
  sessions: Person[];
  commands: Person[];
}

export interface Person {
  /** The name that it gives itself, or the command. */
  name: string;
  /** The token's name, or the process. */
  who: string;
  agent: string;
  since: number;
  lastSeen?: number;
  requests?: number;
  /** Of a command. */
  calls?: { total: number; failed: number; p50?: number; p95?: number };
}

/** The events of the stream, by name. Each replaces what the page knew of the same thing. */
export interface PageEvents {
  snapshot: Snapshot;
  gateways: ListedGateway[];
  server: ServerFacts;
  /** The names that are left: others are gone. */
  servers: { agent: string; names: string[] };
  agent: AgentFacts;
  /** Those that are left. */
  agents: { ids: string[] };
  waiting: WaitingCall[];
  changes: ChangedDefinition[];
  /** Without one: all edits are applied. */
  edit: { unapplied?: NonNullable<Snapshot["edit"]> };
  minute: Minute;
  /** Calls that have begun or ended, and how many more have that are not told. */
  calls: { calls: CallFacts[]; left: number };
  /** Not for viewers. */
  lines: { lines: ServerLineFacts[] };
  people: People;
  /** Events were lost. A snapshot follows. */
  gap: { lost?: number };
}

export interface ToolFacts {
  agent: string;
  /** The public name. */
  name: string;
  /** `server/tool`, as people type it. */
  canonical: string;
  server?: string;
  /** As its server calls it. */
  ownName?: string;
  title?: string;
  /** The first line of what its server says about it. */
  summary: string;
  /** Roughly what its definition takes of a prompt. */
  tokens: number;
  hints: ToolHints;
  trusted: boolean;
  /** How a model gets it, where that is set. */
  include?: string;
  ownerOnly: boolean;
  verdict: ToolVerdict;
}

export interface ToolDetails extends ToolFacts {
  /** As a model reads it. */
  description: string;
  parameters: JsonObject;
  outputSchema?: JsonObject;
  /** Since when its definition is approved, if it is pinned. What has changed is told as an event. */
  pinnedAt?: number;
}

/**
 * Something that adds or changes what is started, or what is allowed. Nothing of it happens by one request: the gateway
 * shows it, and does what was shown when that is confirmed.
 */
export type Change =
  | { kind: "server"; action: "enable" | "disable" | "remove"; agent: string; server: string }
  /** For one tool, by the name that its server gives it. */
  | { kind: "rule"; agent: string; server: string; tool: string; verdict: "allow" | "ask" | "deny" }
  | { kind: "pins"; agent: string; server: string; mode: "off" | "warn" | "block" }
  /** The whole entry of a server, as JSON. */
  | {
      kind: "entry";
      agent: string;
      server: string;
      json: string;
      /** Stored, and written as references: variables, or headers. */
      secrets: Record<string, string>;
    }
  /** An edit of the file that waits, as it is. */
  | { kind: "trust" }
  /** The board in the file of an application, or out of it again. */
  | { kind: "connect"; application: string; undo: boolean }
  | {
      kind: "add";
      agent: string;
      name: string;
      from:
        | { kind: "json"; json: string }
        | ((Offered | Uploaded) & { values: Record<string, string[]> });
      /** Stored, and written as references: variables of the entry, or inputs of the offer. */
      secrets: Record<string, string>;
      /** Start it once before it is written, and write it only if it answers. */
      check: boolean;
    };

/** A server of the registry, or a bundle at a path or an address. */
interface Offered {
  kind: "offer";
  word: string;
  /** Which of the ways to run it. */
  way?: string;
}

/** A bundle that was sent from the browser. */
interface Uploaded {
  kind: "upload";
  /** Names its bytes: what is confirmed is what was sent. */
  id: string;
}

/** Where the name of the file is that the page sends to `add/upload`, written as in a URL. */
export const FILE_NAME_HEADER = "x-plugboard-file";

/** The largest file that it takes, in bytes. */
export const MOST_UPLOAD = 512 * 1024 * 1024;

export interface UploadFacts {
  id: string;
  offers: OfferFacts[];
}

/** Where a server to add comes from. */
export type AddSource =
  | { kind: "command"; line: string }
  | { kind: "url"; url: string }
  | { kind: "json"; json: string }
  | Offered;

export interface AddInput {
  key: string;
  description?: string;
  isRequired: boolean;
  isSecret: boolean;
  format: "string" | "number" | "boolean" | "file" | "directory";
  default?: string;
  placeholder?: string;
  choices?: string[];
  isMultiple?: true;
}

export interface OfferFacts {
  /** What it could be called; empty if nothing says so. */
  name: string;
  /** Its entry, where that needs nothing to be filled in. */
  json?: string;
  inputs: AddInput[];
  /** What a person should know about it. */
  notes: string[];
  /** The other ways to run it. */
  others?: { id: string; about: string }[];
}

export interface RegistryServer {
  name: string;
  title?: string;
  version: string;
  description: string;
  isDeprecated: boolean;
  runsAs: string[];
}

/** The entry of a server, as its file has it. */
export interface ServerEntryFacts {
  file: string;
  line: number;
  /** Without credentials that are written in it; what stands in their place is kept as it was. */
  json: string;
}

/** What a person reads before they confirm a change. */
export interface ChangeShown {
  /** In words: `disable docs`. */
  summary: string;
  about: { file?: string; agent?: string; server?: string; tool?: string };
  /** What would be started or used from then on, whole. */
  starts: StartedServer[];
  /** How the file would differ. */
  diff: DiffLine[];
  /** What looks suspicious, and what follows from the change. */
  warnings: string[];
}

export interface StartedServer {
  name: string;
  /** The program and its arguments, or the address, and every setting that decides what runs: whole, a line each. */
  lines: string[];
}

export interface DiffLine {
  /** `gap`: lines that stay as they are are left out here. */
  kind: "same" | "added" | "removed" | "gap";
  text: string;
}

export interface ChangePreview extends ChangeShown {
  /** Confirms this and nothing else, once. */
  hash: string;
  until: number;
}

export interface TokenFacts {
  id: string;
  name: string;
  /** The one that the gateway makes for itself. */
  isDefault: boolean;
  /** Absent: every agent. */
  agents?: readonly string[];
  /** What it may see and do, in words. Empty: everything that the configuration allows. */
  limits: string[];
  createdAt: number;
  expiresAt?: number;
  lastUsedAt?: number;
}

export interface NewTokenFacts {
  token: TokenFacts;
  /** It is nowhere else. */
  text: string;
  /** To send to somebody. Without the token. */
  url: string;
  /** How each client is given it. These hold the token. */
  entries: { client: string; lines: string[] }[];
  /** What its client sees none of, such as "tools". Absent if it may see all kinds. */
  unseen?: string;
}

/** An application of this machine that the board can be put into. */
export interface ApplicationFacts {
  id: string;
  name: string;
  file: string;
  state: "absent" | "connected" | "broken" | "unreadable";
  /** Why it is broken or cannot be read. */
  problem?: string;
}

type PinName = Pick<ChangedDefinition, "server" | "key" | "tool" | "hash">;

/** What the page asks for, by name: what it sends and what it gets. */
export interface PageRequests {
  /** With a query: ranked as for a model. */
  "tools/list": {
    takes: {
      agent?: string;
      query?: string;
      from?: number;
      server?: string;
      verdict?: ToolVerdict["kind"];
      effect?: "reads" | "writes" | "destroys";
    };
    gives: { total: number; tools: ToolFacts[] };
  };
  "tools/get": { takes: { agent: string; tool: string }; gives: ToolDetails };
  /** The whole call: an answer is for this and nothing else. */
  "approvals/show": { takes: { id: string }; gives: { args: JsonObject } };
  "approvals/answer": {
    /** The reason is for the model that made the call. */
    takes: { id: string; answer: "once" | "always" | "refuse"; reason?: string };
    gives: object;
  };
  "approvals/lasting": { takes: object; gives: { approvals: LastingApproval[] } };
  "approvals/forget": { takes: StoredApproval; gives: object };
  /** What leaving a server out of an agent's prompts would save, in tokens. The most first. */
  "prompts/show": {
    takes: { agent: string };
    gives: { servers: { server: string; tools: number; saves: number }[] };
  };
  "secrets/list": { takes: object; gives: { secrets: SecretFacts[] } };
  /** Asks the provider anew. */
  "secrets/test": { takes: { agent: string; reference: string }; gives: SecretFacts };
  "audit/search": {
    takes: {
      tool?: string;
      server?: string;
      caller?: string;
      rule?: string;
      outcome?: "ok" | "failed" | "refused" | "suspicious" | "decision";
      since?: number;
      until?: number;
      from?: number;
      most?: number;
    };
    gives: AuditFound;
  };
  "servers/show": {
    takes: { agent: string; server: string };
    gives: {
      /** The oldest first. */
      past: PastStateFacts[];
      /** What its process and all that it has started take, in bytes. */
      memory?: number;
      identity?: {
        name?: string;
        version?: string;
        era: string;
        protocolVersion: string;
        /** `resources`, `resources.subscribe` */
        capabilities: readonly string[];
      };
      instructions?: string;
      /** Not for viewers. */
      notes?: string[];
    };
  };
  "pins/show": { takes: PinName; gives: { parts: ChangedPart[]; isCut: boolean } };
  "pins/approve": { takes: PinName; gives: object };
  /** A call that is still kept. Viewers do not get its content. */
  "calls/show": {
    takes: { id: string };
    gives: { facts: CallFacts; steps: CallStep[]; content?: CallContent };
  };
  "add/search": {
    takes: { words: string };
    gives: { servers: RegistryServer[]; hasMore: boolean };
  };
  "add/read": { takes: { source: AddSource }; gives: { offers: OfferFacts[] } };
  "servers/entry": { takes: { agent: string; server: string }; gives: ServerEntryFacts };
  "changes/preview": { takes: { change: Change }; gives: ChangePreview };
  "changes/confirm": {
    takes: { hash: string };
    /** What a person should know about how it went. */
    gives: { said?: string };
  };
  "tokens/list": { takes: object; gives: { tokens: TokenFacts[]; agents: string[] } };
  "tokens/add": {
    takes: {
      name: string;
      agents?: string[];
      allow?: string[];
      deny?: string[];
      approval?: "never" | "ask" | "destructive";
      rateLimit?: number;
      /** Milliseconds. */
      expires?: number;
    };
    gives: NewTokenFacts;
  };
  "tokens/revoke": { takes: { id: string }; gives: object };
  "applications/list": { takes: object; gives: { applications: ApplicationFacts[] } };
  /** The page to open. */
  "servers/signIn": { takes: { agent: string; server: string }; gives: { url: string } };
  "servers/signOut": {
    takes: { agent: string; server: string };
    gives: { outcome: "none" | "forgotten" | "revoked" };
  };
  /** Until it is started with `servers/restart`. */
  "servers/stop": { takes: { agent: string; server: string }; gives: { state: StateKind } };
  "servers/restart": { takes: { agent: string; server: string }; gives: { state: StateKind } };
}

/** How many tools a list has at most. */
export const TOOLS_A_PAGE = 200;

/** A call that somebody makes in the page is answered with a stream of these. */
export interface PageCallEvents {
  /** The first: what the call is named from then on. */
  open: { call: string };
  question: CallQuestion;
  /** Nobody waits for the answer any more. */
  answered: { id: string };
  progress: { progress: number; total?: number; message?: string };
  result: {
    isError: boolean;
    content: JsonObject[];
    structured?: unknown;
    ms: number;
    /** The code of a failure. */
    code?: string;
  };
}

/** What the server of a running call asks whoever makes the call. All words are the server's. */
export type CallQuestion = { id: string; server: string } & (
  | { kind: "form"; message: string; schema: JsonObject }
  /** `isRequired`: the call is made again once the person has finished there. */
  | { kind: "page"; message: string; url: string; isRequired: boolean }
  /** It wants a model to write something. The page has none, so the person writes it. */
  | {
      kind: "model";
      system?: string;
      messages: { role: string; text: string }[];
      maxTokens: number;
    }
);

/** The answer to one question of one call. */
export interface CallAnswer {
  call: string;
  question: string;
  action: "accept" | "decline" | "cancel";
  /** The values of a form. */
  content?: JsonObject;
  /** What a model would have written. */
  text?: string;
}

/** What a request is answered with if it fails. */
export interface ApiFailure {
  error: { code: string; message: string; hint?: string };
}
