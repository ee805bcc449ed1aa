// One session: its board, the turn that is under way, its mode, and what its client is told.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ContentBlock,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { type Clock, type Timer, within } from "../../../util/clock.ts";
import { CallDisplay } from "../calls/display.ts";
import { CommandList } from "../commands/list.ts";
import { type Command, parseCommand } from "../commands/commands.ts";
import { fromAcp, promptText, textBlock } from "../content.ts";
import { answerWithoutModel, promptForModel, runCommand } from "../commands/direct.ts";
import { Health, noticeUpdate } from "../servers/health.ts";
import type { SessionServers } from "../servers/mcp-servers.ts";
import { DEFAULT_MODE, type Mode } from "./mode.ts";
import { type Peer, takesNotices } from "../peer.ts";
import type { ModelChoice, OpenSession, Responder, SessionBoard, Turn } from "../ports.ts";
import type { SessionRecord } from "../history/record.ts";
import { isOffered } from "../servers/server-meta.ts";
import { type BareRequest, type Shared, withHandlers } from "./request.ts";
import { shownUpdate } from "../calls/shown.ts";
import { titleOf } from "./title.ts";
import { ToolCalls } from "../calls/tool-calls.ts";

/** How long the first prompt waits for servers that are still starting. */
const FIRST_WAIT_MS = 15_000;
/** How long a new session waits for its model to be loaded: sooner or later its first prompt would. */
const WARM_UP_MS = 1500;
/** Servers that start together come one by one. */
const PREPARE_AFTER_MS = 50;

export interface SessionContext {
  peer: Peer;
  clock: Clock;
  /** Undefined where there is no model: then commands are answered alone. */
  responder: Responder | undefined;
  openSession: OpenSession;
  /** Undefined where nothing is kept. */
  record: SessionRecord | undefined;
}

export interface SessionSetup extends BareRequest, Pick<SessionServers, "includes" | "skipped"> {
  /** Something was said in it before: it has its title. */
  hasTitle: boolean;
}

export class Session {
  readonly id: string;
  readonly #context: SessionContext;
  readonly #board: SessionBoard;
  readonly #health: Health;
  readonly #calls: ToolCalls;
  readonly #commands: CommandList;
  readonly #shared: Shared;
  readonly #off: (() => void)[];
  #turn: { controller: AbortController; done: Promise<unknown> } | undefined;
  #greeting: Timer | undefined;
  #preparation: Timer | undefined;
  #hasWaited = false;
  #hasTitle = false;
  #closing: Promise<void> | undefined;

  static async open(setup: SessionSetup, context: SessionContext): Promise<Session> {
    const { includes, skipped, hasTitle, ...request } = setup;
    const calling = new AsyncLocalStorage<string>();
    const display = new CallDisplay({
      cwd: request.cwd,
      calling,
      send: (update) => void context.peer.update(request.id, update),
    });
    const shared: Shared = { mode: DEFAULT_MODE, calling, display };
    const { clock, responder } = context;
    const [board] = await Promise.all([
      context.openSession(withHandlers(request, shared, context)),
      within(clock, WARM_UP_MS, Promise.resolve(responder?.warmUp?.())),
    ]);
    const session = new Session(request.id, board, shared, context, includes);
    session.#hasTitle = hasTitle;
    session.#greet([...skipped, ...board.notices]);
    return session;
  }

  private constructor(
    id: string,
    board: SessionBoard,
    shared: Shared,
    context: SessionContext,
    includes: SessionServers["includes"],
  ) {
    this.id = id;
    this.#board = board;
    this.#shared = shared;
    this.#context = context;
    this.#health = new Health(board, (problem) => this.#notify(problem));
    this.#calls = new ToolCalls({
      board,
      calling: shared.calling,
      mode: () => shared.mode,
      isOffered: (tool) => isOffered(tool, includes),
      emit: (each) => this.#emit(each),
    });
    this.#commands = new CommandList({
      board,
      clock: context.clock,
      tell: (availableCommands) => {
        const update = { sessionUpdate: "available_commands_update", availableCommands } as const;
        void context.peer.update(id, update);
      },
    });
    this.#off = [
      board.on("tools", () => this.#prepareSoon()),
      board.on("prompts", () => this.#commands.announceSoon()),
      board.on("server", ({ state }) => {
        if (state.kind === "ready") this.#commands.announceSoon();
        // A message out of turn would stand in the middle of nothing.
        else if (takesNotices(context.peer)) this.#health.report();
      }),
    ];
  }

  get mode(): Mode {
    return this.#shared.mode;
  }

  set mode(mode: Mode) {
    this.#shared.mode = mode;
  }

  /** Absent where there is no model. */
  get models(): ModelChoice | undefined {
    return this.#context.responder?.models;
  }

  /** From the next prompt on, and when the session is loaded again. Rejects where it cannot be used. */
  async chooseModel(id: string): Promise<void> {
    const { models } = this;
    await models?.choose(id);
    this.#context.record?.write({ model: models?.current });
  }

  /** Resolves when the turn is over. One at a time: ACP has no queue of prompts. */
  async prompt(prompt: readonly ContentBlock[], gone: AbortSignal): Promise<StopReason> {
    if (this.#turn !== undefined) {
      throw RequestError.invalidRequest(
        { sessionId: this.id },
        "a prompt of this session is still being answered",
      );
    }
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, gone]);
    this.#shared.turn = signal;
    const done = this.#answer(prompt, signal);
    this.#turn = { controller, done };
    try {
      return await done;
    } finally {
      this.#turn = undefined;
      this.#shared.turn = undefined;
      await this.#context.record?.flush();
    }
  }

  cancel(): void {
    this.#turn?.controller.abort();
  }

  /** Idempotent; resolves when nothing of the session is left. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#greeting?.cancel();
    this.#preparation?.cancel();
    this.#commands.close();
    for (const off of this.#off) off();
    const turn = this.#turn?.done;
    this.cancel();
    await Promise.allSettled([turn, this.#board.close()]);
    await this.#context.record?.close();
  }

  async #answer(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { record } = this.#context;
    for (const content of prompt) {
      record?.add({ sessionUpdate: "user_message_chunk", content });
    }
    const text = promptText(prompt);
    this.#entitle(text);
    try {
      if (!/^\/mcp\b/.test(text)) await this.#wait(signal);
      this.#health.report();
      // The name of a prompt's command has a colon, and its server may have come just now.
      if (/^\/\S+:/.test(text)) await this.#commands.read();
      const turn = this.#turnFor(prompt, signal);
      const command = parseCommand(text, this.#commands.prompts);
      const reason = await this.#respond(command, turn);
      // Servers may have come or gone with it, and their prompts with them.
      if (command?.kind === "mcp") this.#commands.announceSoon();
      return signal.aborted ? "cancelled" : reason;
    } catch (error) {
      if (signal.aborted) return "cancelled";
      throw error;
    }
  }

  async #respond(command: Command | undefined, turn: Turn): Promise<StopReason> {
    const { responder } = this.#context;
    if (responder === undefined) {
      return command === undefined ? answerWithoutModel(turn) : runCommand(command, turn);
    }
    if (command !== undefined && command.kind !== "prompt") return runCommand(command, turn);
    // So that the model's first call to what was stopped for being idle does not wait for it.
    this.#board.wake();
    if (command === undefined) return responder.answer(turn);
    const messages = await promptForModel(command, turn);
    return messages === undefined ? "end_turn" : responder.answer({ ...turn, prompt: messages });
  }

  #turnFor(prompt: readonly ContentBlock[], signal: AbortSignal): Turn {
    return {
      prompt: prompt.map(fromAcp),
      signal,
      board: this.#board,
      tools: () => this.#calls.tools(),
      emit: (update) => this.#emit(update),
      say: (text) => this.#emit({ sessionUpdate: "agent_message_chunk", content: textBlock(text) }),
      notify: (text) => this.#notify(text),
      call: (tool, args) => this.#calls.run(tool, args, signal),
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#hasWaited) return;
    this.#hasWaited = true;
    const starting = this.#health.starting();
    if (starting.length === 0) return;
    this.#emit({
      sessionUpdate: "agent_thought_chunk",
      content: textBlock(`Waiting for ${starting.join(", ")} to start.\n`),
    });
    await this.#health.settled(this.#context.clock, FIRST_WAIT_MS, signal);
    const late = this.#health.starting();
    if (late.length === 0) return;
    this.#notify(`${late.join(", ")}: still starting; the tools can be used once it is ready`);
  }

  /** As the list of sessions will have it. */
  #entitle(text: string): void {
    const title = titleOf(text);
    if (this.#hasTitle || title === undefined) return;
    this.#hasTitle = true;
    void this.#context.peer.update(this.id, { sessionUpdate: "session_info_update", title });
  }

  #emit(update: SessionUpdate): void {
    const { peer, record } = this.#context;
    const { shown, kept } = this.#shared.display.complete(shownUpdate(update));
    void peer.update(this.id, shown);
    record?.add(kept);
  }

  /** About the moment, so that it is not kept. */
  #notify(text: string): void {
    const { peer } = this.#context;
    void peer.update(this.id, noticeUpdate(text, takesNotices(peer)));
  }

  /** After the answer that tells the client the session's id: it knows of no session before. */
  #greet(notices: readonly string[]): void {
    this.#greeting = this.#context.clock.after(0, () => {
      for (const notice of notices) this.#notify(notice);
      this.#health.report();
      void this.#commands.announce();
    });
    this.#prepareSoon();
  }

  /** While nobody waits for it. */
  #prepareSoon(): void {
    const { clock, responder } = this.#context;
    if (responder?.prepare === undefined) return;
    this.#preparation?.cancel();
    this.#preparation = clock.later(PREPARE_AFTER_MS, () =>
      responder.prepare?.(this.#calls.tools()),
    );
  }
}
