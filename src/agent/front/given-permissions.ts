// The permissions that a client has given to the agent for calls of the board's tools. One counts for one call of the same
// tool with the same arguments, so that a person is not asked twice about the same thing. The agent wrote the question, and
// it may be hostile: an answer counts only if the person can have meant nothing but this call. So the words of every option
// are in a closed list under their kind, and the agent has shown nothing but the tool's name and its arguments.

import { createHash } from "node:crypto";
import { ENDPOINT_NAME } from "../../serve/endpoint/session-endpoint.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Tool } from "../../core/types/tool.ts";
import { canonicalJson, jsonOfAnyDepth } from "../../util/canonical-json.ts";
import type { Clock } from "../../util/clock.ts";
import { visible } from "../../util/visible.ts";

/** How long a permission counts: the call that it is for follows at once. */
const GOOD_FOR_MS = 60_000;
const MOST_GIVEN = 100;
const MOST_SHOWN = 500;
/** Calls of other tools, and forgotten ones: a day of work. Each costs some fifty bytes. */
const MOST_SHOWN_OTHERWISE = 20_000;
const DEEPEST_META = 4;
/** What Claude Agent says of a call of a subagent: an id, which nobody is shown. */
const IDS: ReadonlySet<string> = new Set(["parentToolUseId"]);
/** Two ids that are others to us are one to a client that normalises text, or that puts the same mark in place of halves. */
const ID = /^[ -~]{1,200}$/;
const PLAIN_ID = /^[\w-]{1,100}$/;
/** A message with these alone leaves nothing behind that the client shows once there is a new title. */
const TITLE_FIELDS: ReadonlySet<string> = new Set([
  "sessionUpdate",
  "toolCallId",
  "title",
  "status",
]);
/** Longer than any name of a tool with what agents put around it. */
const LONGEST_NAME = 300;

/**
 * How agents write the name of a tool of the server `plugboard`: `mcp__plugboard__x` (Claude Code, Codex),
 * `plugboard__x`, `plugboard_x` (OpenCode), `mcp_plugboard_x` (Gemini CLI), `mcp.plugboard.x` (codex-acp), `plugboard/x`,
 * and the same with the name of a slot, `plugboard-2`.
 */
const PREFIX = /^(?:mcp(?:__|[_./:-]))?plugboard([_./:-].+)$/;
const SLOT = /^-\d{1,4}([_./:-].+)$/;
/** `x (plugboard MCP Server)`, as Gemini CLI shows it. */
const SUFFIX = /^(\S+) \(plugboard(?:-\d{1,4})?(?: MCP Server)?\)$/;

const SERVER = /^plugboard(?:-\d{1,4})?$/;

/** What an option may say, by its kind. "No" that counts as yes is in no list, nor is advice on which one to choose. */
const WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  allow_once: new Set(["allow", "allow once", "yes", "approve", "accept", "proceed", "run"]),
  allow_always: new Set([
    "always",
    "always allow",
    "allow always",
    "allow for this session",
    "allow for all future sessions",
    "allow tool for this session",
    "allow tool for all future sessions",
    "allow all server tools for this session",
  ]),
  reject_once: new Set(["reject", "reject once", "no", "deny", "decline", "cancel"]),
  reject_always: new Set(["never", "always reject", "reject always", "never allow"]),
};
/** Claude Agent, followed by the tool's name. */
const ALWAYS_TOOL = /^always allow (?:all )?(\S+)$/i;

/** What a client may show of a call. It may show a field that we do not know, too. */
const CALL_FIELDS: ReadonlySet<string> = new Set([
  "sessionUpdate",
  "toolCallId",
  "title",
  "name",
  "kind",
  "status",
  "content",
  "locations",
  "rawInput",
  "_meta",
]);
const QUESTION_FIELDS: ReadonlySet<string> = new Set(["sessionId", "toolCall", "options", "_meta"]);
const OPTION_FIELDS: ReadonlySet<string> = new Set(["optionId", "name", "kind"]);
const STATUSES: ReadonlySet<unknown> = new Set(["pending", "in_progress", "completed", "failed"]);
/** Fields of the update that begins a call. A client ignores that update if one of them is null; in later updates they may be. */
const NEVER_NULL = ["content", "locations", "status"] as const;
/** The others make a call look harmless; some clients even approve those of themselves. */
const KINDS: ReadonlySet<unknown> = new Set(["other", "execute"]);

type NamedTool = Pick<Tool, "name" | "source">;

/** A call of one of the board's tools, as far as the agent has shown it. */
interface ShownCall {
  /** The public name. */
  tool: string;
  /** Whether its title says so, which a person decides by. Nobody sees its other names. */
  isTitled: boolean;
  /** Hash of the arguments; undefined until the agent has shown them. */
  args: string | undefined;
  title: unknown;
  /** Hash of the call's content, which a person sees too. */
  content: string;
  /** Hash of the arguments that are written in the content, if it is nothing else; undefined if there is no content. */
  written: string | undefined;
  /** The client was shown nothing but its tool and its arguments. A client may still show what it once had. */
  isPlain: boolean;
  hasEnded: boolean;
  /** Counts what has become another one, so that a change in the middle of a question is noticed. */
  changes: number;
}

/** The call in a question to the client, as the call was at that time. */
interface AskedCall {
  id: string;
  call: ShownCall;
  tool: string;
  args: string;
  changes: number;
}

interface GivenPermission {
  tool: string;
  args: string;
  /** On the monotonic clock. */
  until: number;
}

export interface GivenPermissionsOptions {
  clock: Clock;
  /** The board's tools, whatever the agent may call. */
  tools: () => readonly NamedTool[];
}

export class GivenPermissions {
  readonly #options: GivenPermissionsOptions;
  /** By the agent's id of the call, the oldest first. */
  readonly #shown = new Map<string, ShownCall>();
  /**
   * Hashes of the ids of calls that a client may show with something that is neither a tool of the board nor its
   * arguments. What a client once had of a call, it shows under whatever title the call gets later.
   */
  readonly #shownOtherwise = new Set<string>();
  /** Any call may be one of those. */
  #isLost = false;
  /** By the parameters of the question. */
  readonly #asked = new WeakMap<JsonObject, AskedCall>();
  #given: GivenPermission[] = [];
  #names: ReadonlyMap<string, NamedTool> | undefined;

  constructor(options: GivenPermissionsOptions) {
    this.#options = options;
  }

  /** The list of tools is another one. */
  toolsChanged(): void {
    this.#names = undefined;
  }

  /** The client knows the calls of `before` too, and may show what it had of them under their ids. */
  remember(before: GivenPermissions): void {
    this.#isLost ||= before.#isLost;
    for (const hash of before.#shownOtherwise) this.#showsOtherwise(hash);
    for (const id of before.#shown.keys()) this.#showsOtherwise(hashOf([id]));
  }

  /** The agent shows a call, or more of one; `isSeen` unless the client may take no notice of the message. */
  saw(toolCall: JsonObject, isSeen = true): void {
    const { toolCallId, status } = toolCall;
    // The client may take any other id for that of a call.
    if (!isPlainId(toolCallId)) return this.lostTrack();
    const known = this.#shown.get(toolCallId);
    const named = this.#namedIn(toolCall) ?? known?.tool;
    const wrapped = wrappedIn(toolCall["rawInput"]);
    // A tool may have arguments of these names itself.
    const isWrapped =
      wrapped !== undefined &&
      wrapped.tool === (named ?? this.#publicName(`${ENDPOINT_NAME}/${wrapped.tool}`));
    const tool = isWrapped ? wrapped.tool : named;
    // Calls of the agent's own tools are none of our business, unless the agent says later that it is one of ours.
    if (tool === undefined) {
      const isBare = Object.keys(toolCall).every((key) => TITLE_FIELDS.has(key));
      return isBare ? undefined : this.#showsOtherwise(hashOf([toolCallId]));
    }
    const args = isWrapped ? hashOf(wrapped.args) : argumentsIn(toolCall, known);
    const title = toolCall["title"] ?? known?.title;
    const isTitled = typeof title === "string" && this.#publicName(title) === tool;
    const content = contentIn(toolCall) ?? known?.content ?? NOTHING;
    const inContent = Array.isArray(toolCall["content"])
      ? argumentsInContent(toolCall["content"])
      : undefined;
    const written = inContent === undefined ? known?.written : hashOf(inContent);
    const wasPlain = known?.isPlain ?? !this.#isShownOtherwise(toolCallId);
    const isPlain =
      wasPlain &&
      isSeen &&
      isValid(toolCall, known !== undefined) &&
      this.#isPlain(toolCall, tool, inContent);
    const hasEnded = known?.hasEnded === true || status === "completed" || status === "failed";
    const shown = { tool, isTitled, args, title, content, written, isPlain, hasEnded };
    if (known === undefined) return this.#show(toolCallId, { ...shown, changes: 0 });
    const isOther =
      known.tool !== tool ||
      known.args !== args ||
      known.title !== title ||
      known.content !== content ||
      known.isPlain !== isPlain;
    const changes = known.changes + (isOther ? 1 : 0);
    Object.assign(known, { ...shown, changes });
  }

  /**
   * The agent has sent a message about a call that the client may read otherwise than we do. No call counts any more: it may
   * be the one, and the client still shows what it has read.
   */
  lostTrack(): void {
    this.#shown.clear();
    this.#isLost = true;
  }

  /** The agent asks the client. Call it before the client can answer. */
  asked(request: JsonObject): void {
    const { toolCall } = request;
    if (!isJsonObject(toolCall)) return;
    this.saw(toolCall);
    const id = String(toolCall["toolCallId"]);
    const call = this.#shown.get(id);
    if (call?.args === undefined || !call.isTitled || call.hasEnded) return;
    const { tool, args, changes } = call;
    if (!saysOnlyThis(call) || !this.#isPlainQuestion(request, tool)) return;
    this.#asked.set(request, { id, call, tool, args, changes });
  }

  /** The client has answered a question of the agent. `request` is the very object that `asked` got. */
  answered(request: JsonObject, answer: JsonObject): void {
    const asked = this.#asked.get(request);
    this.#asked.delete(request);
    if (asked === undefined || !isAllowed(request["options"], answer["outcome"])) return;
    // If the call changed after the question, the person may have seen another call than the one in the question.
    const isSame = this.#shown.get(asked.id) === asked.call;
    if (!isSame || asked.call.changes !== asked.changes) return;
    const { tool, args } = asked;
    const until = this.#options.clock.monotonic() + GOOD_FOR_MS;
    this.#given = [...this.#given.slice(1 - MOST_GIVEN), { tool, args, until }];
  }

  /** Whether the client has permitted this call. Then the permission is used up. */
  take(tool: string, args: JsonObject): boolean {
    const now = this.#options.clock.monotonic();
    this.#given = this.#given.filter(({ until }) => until >= now);
    if (this.#given.length === 0) return false;
    const hash = hashOf(args);
    const at = this.#given.findIndex((each) => each.tool === tool && each.args === hash);
    if (at === -1) return false;
    this.#given.splice(at, 1);
    return true;
  }

  /** The id of the call that the agent shows for this one, the newest; undefined if it shows none. */
  shownFor(tool: string, args?: JsonObject): string | undefined {
    const hash = args && hashOf(args);
    const calls = [...this.#shown].filter(([, call]) => call.tool === tool && !call.hasEnded);
    const same = calls.filter(([, call]) => hash === undefined || call.args === hash);
    // Without arguments, only if there is no doubt.
    return hash === undefined && same.length > 1 ? undefined : same.at(-1)?.[0];
  }

  /**
   * Grows whenever the agent shows something else of a call. Undefined for one that is not known any more, or of which a
   * client may show more than the tool and its arguments.
   */
  changesOf(id: string): number | undefined {
    const call = this.#shown.get(id);
    return call?.isPlain === true ? call.changes : undefined;
  }

  /** A permission holds for one prompt and not for the next one. */
  forget(): void {
    this.#given = [];
  }

  #show(id: string, call: ShownCall): void {
    this.#shown.set(id, call);
    const [oldest] = this.#shown.keys();
    if (this.#shown.size <= MOST_SHOWN || oldest === undefined) return;
    this.#shown.delete(oldest);
    this.#showsOtherwise(hashOf([oldest]));
  }

  /** `hash` is that of the call's id. */
  #showsOtherwise(hash: string): void {
    if (this.#shownOtherwise.size >= MOST_SHOWN_OTHERWISE) this.#isLost = true;
    else this.#shownOtherwise.add(hash);
  }

  #isShownOtherwise(id: string): boolean {
    return this.#isLost || this.#shownOtherwise.has(hashOf([id]));
  }

  /** Whether a message about a call shows nothing but the tool and arguments. */
  #isPlain(toolCall: JsonObject, tool: string, inContent: JsonObject | undefined): boolean {
    const { name, kind, status, content, locations, rawInput, _meta } = toolCall;
    const isEmpty = (value: unknown): boolean =>
      value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    return (
      Object.keys(toolCall).every((key) => CALL_FIELDS.has(key)) &&
      (name === undefined || (typeof name === "string" && this.#publicName(name) === tool)) &&
      (kind === undefined || KINDS.has(kind)) &&
      (isEmpty(status) || STATUSES.has(status)) &&
      (isEmpty(content) || inContent !== undefined) &&
      isEmpty(locations) &&
      // A client shows any other value in place of the arguments, null as nothing.
      (rawInput === undefined || (isJsonObject(rawInput) && hidesNothing(rawInput))) &&
      this.#isPlainMeta(_meta, tool)
    );
  }

  /** Clients know what others put there, a terminal's output for example, and show it. */
  #isPlainMeta(meta: unknown, tool: string, depth = 0): boolean {
    if (typeof meta === "string") return this.#publicName(meta) === tool;
    if (!isJsonObject(meta)) return !Array.isArray(meta);
    return (
      depth < DEEPEST_META &&
      Object.entries(meta).every(
        ([key, value]) =>
          (IDS.has(key) && typeof value === "string" && PLAIN_ID.test(value)) ||
          this.#isPlainMeta(value, tool, depth + 1),
      )
    );
  }

  /** Whether every option says what it does in words of the list, and the question says nothing else. */
  #isPlainQuestion(request: JsonObject, tool: string): boolean {
    const { options, _meta } = request;
    return (
      Object.keys(request).every((key) => QUESTION_FIELDS.has(key)) &&
      this.#isPlainMeta(_meta, tool) &&
      Array.isArray(options) &&
      options.every((option) => isJsonObject(option) && this.#isPlainOption(option, tool))
    );
  }

  #isPlainOption(option: JsonObject, tool: string): boolean {
    const { optionId, name, kind } = option;
    if (typeof name !== "string" || typeof kind !== "string" || !isPlainId(optionId)) return false;
    if (Object.keys(option).some((key) => !OPTION_FIELDS.has(key))) return false;
    if (Object.hasOwn(WORDS, kind) && WORDS[kind]?.has(name.toLowerCase())) return true;
    const [, named] = kind === "allow_always" ? (ALWAYS_TOOL.exec(name) ?? []) : [];
    return named !== undefined && this.#publicName(named) === tool;
  }

  /** The public name of the tool that a call names, if it is one of the board's. */
  #namedIn({ name, title, _meta }: JsonObject): string | undefined {
    for (const each of [name, ...namesInMeta(_meta), title]) {
      const found = typeof each === "string" ? this.#publicName(each) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #publicName(written: string): string | undefined {
    if (written.length > LONGEST_NAME) return undefined;
    this.#names ??= new Map(this.#options.tools().map((tool) => [tool.name, tool]));
    const names = this.#names;
    const meant = readingsOf(written).filter((each) => names.has(each));
    const bare = names.get(written);
    // A name that could be that of two tools is neither's.
    if (bare === undefined) return meant.length === 1 ? meant[0] : undefined;
    // The agent may have a tool of the same name itself, unless the name says which server it is of.
    const isOurs = bare.source.kind === "mcp" && bare.source.tool !== written;
    return isOurs && meant.length === 0 ? written : undefined;
  }
}

/** What may be the name of the tool in the name that an agent gives it: `plugboard__x` stands for `x`, and for `_x`. */
function readingsOf(written: string): string[] {
  const [, shown] = SUFFIX.exec(written) ?? [];
  if (shown !== undefined) return [shown];
  const [, rest] = PREFIX.exec(written) ?? [];
  if (rest === undefined) return [];
  const [, behindSlot] = SLOT.exec(rest) ?? [];
  return [rest, ...(behindSlot === undefined ? [] : [behindSlot])].flatMap((each) =>
    each.startsWith("__") ? [each.slice(1), each.slice(2)] : [each.slice(1)],
  );
}

/** `_meta.claudeCode.toolName`, and the same of others. */
function namesInMeta(meta: unknown): unknown[] {
  if (!isJsonObject(meta)) return [];
  return Object.values(meta).flatMap((each) => (isJsonObject(each) ? [each["toolName"]] : []));
}

/** codex-acp shows `{ server, tool, arguments }` as the input of a call. */
function wrappedIn(input: unknown): { tool: string; args: JsonObject } | undefined {
  if (!isJsonObject(input)) return undefined;
  const { server, tool, arguments: args, ...rest } = input;
  if (typeof server !== "string" || !SERVER.test(server) || typeof tool !== "string") {
    return undefined;
  }
  const isWhole = Object.keys(rest).length === 0 && (args === null || isJsonObject(args));
  return isWhole ? { tool, args: args ?? {} } : undefined;
}

/**
 * The hash of the arguments in this message about a call, or of those in an earlier one if this one shows no others.
 * Undefined if something that cannot be arguments is in their place.
 */
function argumentsIn(
  { sessionUpdate, rawInput, content }: JsonObject,
  known: ShownCall | undefined,
): string | undefined {
  // A client may take a call that begins once more for another one, and show nothing of the one before.
  const before = sessionUpdate === "tool_call" ? undefined : known?.args;
  // `{}` too is what a person sees, in a question as well, where OpenCode leaves out what it has shown before.
  if (isJsonObject(rawInput)) return hashOf(rawInput);
  if (rawInput !== undefined) return undefined;
  // Content that was the arguments is not shown any more.
  const isEmptied = content === null || (Array.isArray(content) && content.length === 0);
  if (isEmptied && before === known?.written) return undefined;
  if (before !== undefined) return before;
  const written = argumentsInContent(content);
  return written && hashOf(written);
}

/** The arguments are there for a person to see once at least; where they are there twice, they are the same. */
function saysOnlyThis({ isPlain, args, written }: ShownCall): boolean {
  return isPlain && (written === undefined || written === args);
}

/** Whether a client shows all of it as it is: the person decides by what they see. */
function hidesNothing(value: unknown): boolean {
  const json = canonicalJson(value);
  return visible(json) === json && isExact(value);
}

/** Whether every number is what was written. A client may show all digits of one that is another number here. */
function isExact(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "number" && !(Math.abs(next) <= Number.MAX_SAFE_INTEGER)) return false;
    if (typeof next !== "object" || next === null) continue;
    for (const each of Object.values(next)) left.push(each);
  }
  return true;
}

const NOTHING = hashOf([]);

/** A hash of what a call contains, if that is shown. Claude Agent repeats it, even in the middle of its question. */
function contentIn({ content }: JsonObject): string | undefined {
  return Array.isArray(content) ? hashOf(content) : undefined;
}

/** Gemini CLI shows the arguments as the one text of a call, as JSON, and no input. Undefined if it shows anything else. */
function argumentsInContent(content: unknown): JsonObject | undefined {
  const [only, ...others] = Array.isArray(content) ? content : [];
  if (others.length > 0 || !isJsonObject(only) || !isJsonObject(only["content"])) return undefined;
  const { type, text, ...rest } = only["content"];
  const isText = type === "text" && typeof text === "string" && Object.keys(rest).length === 0;
  const isAlone = only["type"] === "content" && Object.keys(only).length === 2;
  const parsed = isText && isAlone ? tryParseJson(text) : undefined;
  if (!isJsonObject(parsed) || !hidesNothing(parsed)) return undefined;
  // A key that is there twice, or a screen of blank lines, says something else to a person than to a parser.
  const isAsWritten = [undefined, 2].some((indent) => jsonOfAnyDepth(parsed, indent) === text);
  return isAsWritten ? parsed : undefined;
}

function isPlainId(id: unknown): id is string {
  return typeof id === "string" && ID.test(id);
}

/**
 * Whether the message is as the protocol has it. Many clients take no notice of any other, nor of an update of a call that
 * has not begun, so that its arguments would count and nobody would see them.
 */
function isValid(toolCall: JsonObject, isKnown: boolean): boolean {
  const { sessionUpdate, title, _meta } = toolCall;
  if (_meta !== undefined && _meta !== null && !isJsonObject(_meta)) return false;
  if (sessionUpdate !== "tool_call") return sessionUpdate === undefined || isKnown;
  return typeof title === "string" && NEVER_NULL.every((key) => toolCall[key] !== null);
}

/** Whether the client chose an option that allows the call. */
function isAllowed(options: unknown, outcome: unknown): boolean {
  if (!isJsonObject(outcome) || outcome["outcome"] !== "selected") return false;
  const chosen = (Array.isArray(options) ? options : []).filter(
    (each) => isJsonObject(each) && each["optionId"] === outcome["optionId"],
  );
  return (
    chosen.length > 0 &&
    chosen.every(({ kind }) => kind === "allow_once" || kind === "allow_always")
  );
}

function hashOf(value: JsonObject | readonly unknown[]): string {
  return createHash("sha256").update(canonicalJson(value)).digest("base64url");
}
