// One session: its board, the turn that is under way, its mode, and what its client is told.

import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ContentBlock,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { Prompt } from "../../model/prompt.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { availableCommands, type Command, parseCommand } from "./commands.ts";
import { fromAcp, promptText, textBlock } from "./content.ts";
import { answerWithoutModel, promptForModel, runCommand } from "./direct.ts";
import { Health, noticeUpdate } from "./health.ts";
import { DEFAULT_MODE, type Mode } from "./mode.ts";
import { type Peer, takesNotices } from "./peer.ts";
import type { OpenSession, Responder, SessionBoard, Turn } from "./ports.ts";
import type { SessionRecord } from "./session-record.ts";
import { type BareRequest, type Shared, withHandlers } from "./session-request.ts";
import { ToolCalls } from "./tool-calls.ts";

/** How long the first prompt waits for servers that are still starting. */
const FIRST_WAIT_MS = 15_000;

export interface SessionContext {
  peer: Peer;
  clock: Clock;
  /** Undefined where there is no model: then commands are answered alone. */
  responder: Responder | undefined;
  openSession: OpenSession;
  /** Undefined where nothing is kept. */
  record: SessionRecord | undefined;
}

export type SessionSetup = BareRequest & { skipped: readonly string[] };

export class Session {
  readonly id: string;
  readonly #context: SessionContext;
  readonly #board: SessionBoard;
  readonly #health: Health;
  readonly #calls: ToolCalls;
  readonly #shared: Shared;
  readonly #off: (() => void)[];
  #prompts: Prompt[] = [];
  #turn: { controller: AbortController; done: Promise<unknown> } | undefined;
  #greeting: Timer | undefined;
  #announcement: Timer | undefined;
  #hasWaited = false;
  #closing: Promise<void> | undefined;

  static async open(setup: SessionSetup, context: SessionContext): Promise<Session> {
    const { skipped, ...request } = setup;
    const shared: Shared = { mode: DEFAULT_MODE, calling: new AsyncLocalStorage() };
    const board = await context.openSession(withHandlers(request, shared, context));
    const session = new Session(request.id, board, shared, context);
    session.#greet([...skipped, ...board.notices]);
    return session;
  }

  private constructor(id: string, board: SessionBoard, shared: Shared, context: SessionContext) {
    this.id = id;
    this.#board = board;
    this.#shared = shared;
    this.#context = context;
    this.#health = new Health(board, (problem) => this.#notify(problem));
    this.#calls = new ToolCalls({
      board,
      calling: shared.calling,
      mode: () => shared.mode,
      emit: (each) => this.#emit(each),
    });
    this.#off = [
      board.on("prompts", () => this.#announceSoon()),
      board.on("server", ({ state }) => {
        if (state.kind === "ready") this.#announceSoon();
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

  /** Resolves when the turn is over. One at a time: ACP has no queue of prompts. */
  async prompt(prompt: readonly ContentBlock[], gone: AbortSignal): Promise<StopReason> {
    if (this.#turn !== undefined) {
      throw RequestError.invalidRequest(
        { sessionId: this.id },
        "a prompt of this session is still being answered",
      );
    }
    const controller = new AbortController();
    const done = this.#answer(prompt, AbortSignal.any([controller.signal, gone]));
    this.#turn = { controller, done };
    try {
      return await done;
    } finally {
      this.#turn = undefined;
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
    this.#announcement?.cancel();
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
    try {
      if (!/^\/mcp\b/.test(text)) await this.#wait(signal);
      this.#health.report();
      // The name of a prompt's command has a colon, and its server may have come just now.
      if (/^\/\S+:/.test(text)) await this.#readPrompts();
      const turn = this.#turnFor(prompt, signal);
      const command = parseCommand(text, this.#prompts);
      const reason = await this.#respond(command, turn);
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
    if (command === undefined) return responder.answer(turn);
    if (command.kind !== "prompt") return runCommand(command, turn);
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

  #emit(update: SessionUpdate): void {
    const { peer, record } = this.#context;
    void peer.update(this.id, update);
    record?.add(update);
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
      void this.#announce();
    });
  }

  #announceSoon(): void {
    this.#announcement?.cancel();
    this.#announcement = this.#context.clock.after(0, () => void this.#announce());
  }

  async #announce(): Promise<void> {
    await this.#readPrompts();
    if (this.#closing !== undefined) return;
    await this.#context.peer.update(this.id, {
      sessionUpdate: "available_commands_update",
      availableCommands: availableCommands(this.#prompts),
    });
  }

  /** Of the servers that are up: nothing is started for a list of commands. */
  async #readPrompts(): Promise<void> {
    const ready = this.#board.status().filter(({ state }) => state.kind === "ready");
    const lists = await Promise.all(
      ready.map(({ name }) => this.#board.prompts.list(name).catch((): Prompt[] => [])),
    );
    this.#prompts = lists.flat();
  }
}
