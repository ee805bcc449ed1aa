// One open session: its board, its settings, and the prompt that is being answered.

import { randomUUID } from "node:crypto";
import { type ContentBlock, RequestError, type StopReason } from "@agentclientprotocol/sdk";
import type { SessionRedactor } from "../../../core/board/session-redactor.ts";
import { cancelled, PlugboardError } from "../../../core/types/errors.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import type { SessionOptions } from "../../../core/types/board-options.ts";
import type { SendMcpMessage } from "../../../core/types/mcp-message.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, type Timer, within } from "../../../util/clock.ts";
import { capitalised } from "../../../util/text.ts";
import { callRunning, ToolCalls } from "../calls/tool-calls.ts";
import { CommandList } from "../commands/command-list.ts";
import { type SlashCommand, parseCommand, unknownCommand } from "../commands/commands.ts";
import { targetsIn } from "../commands/mcp.ts";
import { promptForModel, runCommand, withoutModel } from "../commands/run.ts";
import type { SessionRecord } from "../history/record.ts";
import type { ModelChoice, PromptContext, Responder } from "../responder/responder.ts";
import { ServerWatcher } from "../servers/server-watcher.ts";
import type { AcpClient } from "../wire/client.ts";
import { fromAcp, promptText, quoted, textBlock } from "../wire/content.ts";
import { type BoardSetup, type SessionState, withHandlers } from "./session-handlers.ts";
import { SessionOutput } from "./session-output.ts";
import { type Mode, permits, type UserSettings } from "./settings.ts";

/** How long the first prompt waits for servers that are still starting. */
const FIRST_WAIT_MS = 15_000;
/** How long a prompt waits for a server that the user has signed in to since the last prompt. */
const LOGIN_WAIT_MS = 5000;
/** How long a new session waits for its model to load; otherwise the first prompt would wait for it. */
const LOAD_MS = 1500;
/** ACP has no code for a turn that failed. Clients such as acpx try again after this one, and after no other. */
const MAY_PASS = -32603;
/** In the range that JSON-RPC leaves to each server. */
const LASTS = -32010;
/** Servers that start together become ready one by one; their tools are prepared together. */
const PREPARE_DELAY_MS = 50;

/** Resolves within the start wait, whatever the servers do. Rejects only for an invalid configuration. */
export type OpenSession = (options: SessionOptions) => Promise<SessionBoard>;

export interface SessionContext {
  client: AcpClient;
  clock: Clock;
  /** Undefined without a model: then only commands are answered. */
  responder: Responder | undefined;
  /** Tells the user of an agent without a model how to configure one. */
  modelAdvice: string | undefined;
  openSession: OpenSession;
  /** The way to servers in the client; undefined if none are taken. */
  sendMcpMessage: SendMcpMessage | undefined;
  /** Undefined if nothing is kept. */
  record: SessionRecord | undefined;
  /** For the record, and for what is shown of calls. */
  redactor: SessionRedactor;
  /** Has it know what is secret by now. */
  learnSecrets: () => Promise<void>;
}

export interface SessionSetup extends BoardSetup {
  mode: Mode;
  /** Shown to the user before anything else. */
  notices: readonly string[];
  /** Whether the session has its title from earlier prompts. */
  hasTitle: boolean;
}

export class Session implements UserSettings {
  readonly id: string;
  readonly #context: SessionContext;
  readonly #board: SessionBoard;
  readonly #state: SessionState;
  readonly #output: SessionOutput;
  readonly #servers: ServerWatcher;
  readonly #calls: ToolCalls;
  readonly #commands: CommandList;
  readonly #off: (() => void)[];
  #answering: { controller: AbortController; done: Promise<unknown> } | undefined;
  #greeting: Timer | undefined;
  #preparing: Timer | undefined;
  #hasWaited = false;
  /** Notices for the next prompt. */
  #untold: string[] = [];
  #closing: Promise<void> | undefined;

  static async open(setup: SessionSetup, context: SessionContext): Promise<Session> {
    const { notices, mode, hasTitle, ...boardSetup } = setup;
    const { client, clock, record, redactor, responder, sendMcpMessage } = context;
    const { id: sessionId, cwd, additionalDirectories } = boardSetup;
    const state = { mode };
    const output = new SessionOutput({
      sessionId,
      client,
      clock,
      record,
      redactor,
      cwd,
      roots: [cwd, ...additionalDirectories],
      hasTitle,
    });
    const options = withHandlers(boardSetup, { client, clock, responder, output, state });
    const [board] = await Promise.all([
      context.openSession({ ...options, sendMcpMessage }),
      within(clock, LOAD_MS, Promise.resolve(responder?.load?.())),
    ]);
    redactor.join(board.redactor);
    const session = new Session(sessionId, board, state, output, context);
    session.#greet([...notices, ...board.notices]);
    return session;
  }

  private constructor(
    id: string,
    board: SessionBoard,
    state: SessionState,
    output: SessionOutput,
    context: SessionContext,
  ) {
    this.id = id;
    this.#board = board;
    this.#state = state;
    this.#output = output;
    this.#context = context;
    this.#servers = new ServerWatcher(board, (problem) => output.notify(problem));
    this.#calls = new ToolCalls({
      board,
      permits: (tool) => permits(state.mode, tool),
      emit: (update) => output.emit(update),
    });
    this.#commands = new CommandList({
      board,
      clock: context.clock,
      send: (availableCommands) =>
        output.show({ sessionUpdate: "available_commands_update", availableCommands }),
    });
    this.#off = [
      board.on("callStart", ({ callId }) => output.show(callRunning(callId))),
      board.on("tools", () => this.#prepareSoon()),
      board.on("prompts", () => this.#commands.announceSoon()),
      board.on("notice", ({ text }) => this.#tell(text)),
      board.on("server", ({ state: { kind } }) => {
        if (kind === "ready") this.#commands.announceSoon();
        // A client without notices would show it as a message that answers no prompt.
        else if (context.client.showsNotices()) this.#servers.report();
      }),
    ];
  }

  get mode(): Mode {
    return this.#state.mode;
  }

  set mode(mode: Mode) {
    this.#state.mode = mode;
    this.#context.record?.write({ mode });
  }

  get models(): ModelChoice | undefined {
    return this.#context.responder?.models;
  }

  /** Holds from the next prompt on, and when the session is loaded again. Rejects if the model cannot be used. */
  async chooseModel(id: string): Promise<void> {
    const { models } = this;
    await models?.choose(id);
    this.#context.record?.write({ model: models?.current });
  }

  /**
   * Resolves when the prompt is answered. Rejects with a RequestError if the model failed. ACP has no queue of
   * prompts, so a second one is refused meanwhile.
   */
  async prompt(prompt: readonly ContentBlock[], gone: AbortSignal): Promise<StopReason> {
    if (this.#answering !== undefined) {
      throw RequestError.invalidRequest(
        { sessionId: this.id },
        "a prompt of this session is still being answered",
      );
    }
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, gone]);
    this.#state.promptSignal = signal;
    const done = this.#answer(prompt, signal);
    this.#answering = { controller, done };
    try {
      return await done;
    } finally {
      this.#answering = undefined;
      this.#state.promptSignal = undefined;
      await this.#output.settled();
      await this.#context.record?.flush();
    }
  }

  /** Resolves when the history has everything that was said so far. */
  async catchUp(): Promise<void> {
    await this.#output.settled();
    await this.#context.record?.catchUp();
  }

  /** Sends the list of commands again, as for a new session: the client has loaded this one once more. */
  repeatCommands(): void {
    this.#commands.repeatSoon();
  }

  cancel(): void {
    this.#answering?.controller.abort();
  }

  /** Idempotent; resolves when nothing of the session is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#greeting?.cancel();
    this.#preparing?.cancel();
    this.#commands.close();
    this.#output.close();
    for (const off of this.#off) off();
    const answered = this.#answering?.done;
    this.cancel();
    await Promise.allSettled([answered, this.#board.close()]);
    await this.#output.settled();
    await this.#context.record?.close();
  }

  async #answer(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { record, redactor, learnSecrets } = this.#context;
    // Before the prompt is written down. A file of keys that cannot be read now was read when the session opened.
    await learnSecrets().catch(() => {});
    const text = promptText(prompt);
    const typed = parseCommand(text, []);
    if (typed?.kind === "mcp") redactor.hide(targetsIn(typed.words));
    const messageId = randomUUID();
    for (const content of prompt) {
      record?.add({ sessionUpdate: "user_message_chunk", content, messageId });
    }
    this.#output.beginAnswer();
    this.#output.sendTitle(text);
    try {
      // The list of commands needs no server.
      const isList = typed?.kind === "help" && typed.topic === "";
      if (typed?.kind !== "mcp" && !isList) {
        await this.#waitForServers(signal);
        await this.#wakeServers(signal);
      }
      // `/mcp` shows the same problems itself.
      this.#servers.report(/^\/mcp(?:\s+status)?$/.test(text));
      for (const notice of this.#untold.splice(0)) this.#output.notify(notice);
      // A text with a colon may be the command of a server that has just become ready, so the commands are read again.
      if (/^\/\S+:/.test(text)) await untilAborted(this.#commands.read(), signal, cancelled);
      const command = parseCommand(text, this.#commands.prompts);
      const reason = await this.#respond(command, text, this.#contextOf(prompt, signal));
      if (command?.kind === "mcp") {
        this.#servers.report(true);
        // The command may have added or removed servers, and their prompts with them.
        this.#commands.announceSoon();
      }
      return signal.aborted ? "cancelled" : reason;
    } catch (error) {
      if (signal.aborted) return "cancelled";
      if (!(error instanceof PlugboardError)) throw error;
      const failure = turnFailure(error);
      await this.#output.settled();
      // The client shows the error itself; whoever loads the session later has only the record.
      record?.add(quoted(textBlock(failure.message)));
      throw failure;
    }
  }

  async #respond(
    command: SlashCommand | undefined,
    text: string,
    prompt: PromptContext,
  ): Promise<StopReason> {
    const { responder, modelAdvice } = this.#context;
    if (responder === undefined) {
      if (command !== undefined) return runCommand(command, prompt);
      const unknown = unknownCommand(text, this.#commands.prompts);
      if (unknown === undefined) throw withoutModel(prompt, modelAdvice);
      prompt.say(unknown);
      return "end_turn";
    }
    if (command === undefined) return responder.answer(prompt);
    if (command.kind !== "prompt") return runCommand(command, prompt);
    const messages = await promptForModel(command, prompt);
    return messages === undefined ? "end_turn" : responder.answer({ ...prompt, prompt: messages });
  }

  #contextOf(prompt: readonly ContentBlock[], signal: AbortSignal): PromptContext {
    const output = this.#output;
    return {
      prompt: prompt.map(fromAcp),
      signal,
      board: this.#board,
      tools: () => this.#calls.tools(),
      leftOut: async () => (await this.#context.responder?.leftOut?.(this.#board.tools())) ?? [],
      toolSearch: async () =>
        this.#context.responder?.toolSearch?.(this.#board.tools(), this.#board.toolSearch),
      emit: (update) => output.emit(update),
      say: (text) => output.say(text),
      notify: (text, severity) => output.notify(text, severity),
      call: (tool, args) => this.#calls.run(tool, args, signal),
    };
  }

  async #waitForServers(signal: AbortSignal): Promise<void> {
    if (this.#hasWaited) return;
    this.#hasWaited = true;
    const starting = this.#servers.starting();
    if (starting.length === 0) return;
    this.#output.think(`Waiting for ${starting.join(", ")} to start.\n`);
    await this.#servers.settled(this.#context.clock, FIRST_WAIT_MS, signal);
    const late = this.#servers.starting();
    if (late.length === 0) return;
    this.#output.notify(
      `${late.join(", ")}: still starting; the tools can be used once it is ready`,
    );
  }

  /** Waits only for servers that the user has signed in to; those that were idle start in the meantime. */
  async #wakeServers(signal: AbortSignal): Promise<void> {
    const woken = within(this.#context.clock, LOGIN_WAIT_MS, this.#board.wake());
    await untilAborted(woken, signal, cancelled);
  }

  /** A client without notices would show it as a message, which only belongs into the answer to a prompt. */
  #tell(text: string): void {
    const isHeard = this.#answering !== undefined || this.#context.client.showsNotices();
    if (isHeard) this.#output.notify(capitalised(text));
    else this.#untold.push(capitalised(text));
  }

  #prepareSoon(): void {
    const { clock, responder } = this.#context;
    if (responder?.prepare === undefined) return;
    this.#preparing?.cancel();
    this.#preparing = clock.later(PREPARE_DELAY_MS, () => responder.prepare?.(this.#calls.tools()));
  }

  /** After the response that gives the client the session's id: it would not know the session before that. */
  #greet(notices: readonly string[]): void {
    this.#greeting = this.#context.clock.after(0, () => {
      for (const notice of notices) this.#output.notify(notice);
      const { client, responder } = this.#context;
      // Others would show it as a message that answers no prompt. They have the model as an option of the session.
      if (responder?.notice && client.showsNotices()) this.#output.notify(responder.notice, "info");
      this.#servers.report();
      void this.#commands.announce();
    });
    this.#prepareSoon();
  }
}

/** `data` tells a client what failed, with which HTTP status, and whether the same prompt may work later. */
function turnFailure({
  message,
  hint,
  code: kind,
  status,
  permanent,
}: PlugboardError): RequestError {
  const what = capitalised(message);
  const text = hint === undefined ? `${what}.` : `${what}. ${capitalised(hint)}`;
  return new RequestError(permanent ? LASTS : MAY_PASS, text, {
    kind,
    ...(status !== undefined && { status }),
    retryable: !permanent,
  });
}
