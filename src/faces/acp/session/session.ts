// One session: its board, the turn that is under way, its mode, and what its client is told.

import { type ContentBlock, RequestError, type StopReason } from "@agentclientprotocol/sdk";
import { cancelled } from "../../../model/errors.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, type Timer, within } from "../../../util/clock.ts";
import { CommandList } from "../commands/command-list.ts";
import { type Command, parseCommand } from "../commands/commands.ts";
import { fromAcp, promptText } from "../wire/content.ts";
import { secretsIn } from "../commands/mcp.ts";
import { answerWithoutModel, promptForModel, runCommand } from "../commands/run.ts";
import { Health } from "../servers/server-watcher.ts";
import type { Mode } from "./mode.ts";
import { type Peer, takesNotices } from "../wire/peer.ts";
import type {
  ModelChoice,
  OpenSession,
  Responder,
  SessionBoard,
  Turn,
} from "../responder/responder.ts";
import type { SessionRecord } from "../history/record.ts";
import type { Outlet } from "./session-output.ts";
import { Preparation } from "./preparation.ts";
import { type BareRequest, type Shared, sharedBy, withHandlers } from "./session-handlers.ts";
import { ToolCalls } from "../calls/tool-calls.ts";

/** How long the first prompt waits for servers that are still starting. */
const FIRST_WAIT_MS = 15_000;
/** How long a prompt waits for a server that somebody has signed in to since the one before. */
const LOGIN_WAIT_MS = 5000;
/** How long a new session waits for its model to be loaded: sooner or later its first prompt would. */
const WARM_UP_MS = 1500;

export interface SessionContext {
  peer: Peer;
  clock: Clock;
  /** Undefined where there is no model: then commands are answered alone. */
  responder: Responder | undefined;
  /** What gives an agent without a model one, as a sentence. */
  modelAdvice: string | undefined;
  openSession: OpenSession;
  /** Undefined where nothing is kept. */
  record: SessionRecord | undefined;
}

export interface SessionSetup extends BareRequest {
  mode: Mode;
  /** What the person is told of it before anything else. */
  notices: readonly string[];
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
  readonly #outlet: Outlet;
  readonly #preparation: Preparation;
  readonly #off: (() => void)[];
  #turn: { controller: AbortController; done: Promise<unknown> } | undefined;
  #greeting: Timer | undefined;
  #hasWaited = false;
  #closing: Promise<void> | undefined;

  static async open(setup: SessionSetup, context: SessionContext): Promise<Session> {
    const { notices, mode, hasTitle, ...request } = setup;
    const shared = sharedBy({ ...request, mode, hasTitle }, context);
    const { clock, responder } = context;
    const [board] = await Promise.all([
      context.openSession(withHandlers(request, shared, context)),
      within(clock, WARM_UP_MS, Promise.resolve(responder?.warmUp?.())),
    ]);
    const session = new Session(request.id, board, shared, context);
    session.#greet([...notices, ...board.notices]);
    return session;
  }

  private constructor(id: string, board: SessionBoard, shared: Shared, context: SessionContext) {
    this.id = id;
    this.#board = board;
    this.#shared = shared;
    const { outlet } = shared;
    this.#outlet = outlet;
    this.#context = context;
    this.#health = new Health(board, (problem) => outlet.notify(problem));
    this.#calls = new ToolCalls({
      board,
      calling: shared.calling,
      mode: () => shared.mode,
      emit: (update) => outlet.emit(update),
    });
    this.#preparation = new Preparation(context.clock, context.responder, () =>
      this.#calls.tools(),
    );
    this.#commands = new CommandList({
      board,
      clock: context.clock,
      tell: (availableCommands) =>
        outlet.show({ sessionUpdate: "available_commands_update", availableCommands }),
    });
    this.#off = [
      board.on("tools", () => this.#preparation.soon()),
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
    this.#context.record?.write({ mode });
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

  /** Resolves when what was said so far can be read in the history. */
  async catchUp(): Promise<void> {
    await this.#context.record?.catchUp();
  }

  /** It was loaded again as it is: what a client is told of a new session is told once more. */
  reintroduce(): void {
    this.#commands.repeatSoon();
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
    this.#preparation.cancel();
    this.#commands.close();
    this.#outlet.close();
    for (const off of this.#off) off();
    const turn = this.#turn?.done;
    this.cancel();
    await Promise.allSettled([turn, this.#board.close()]);
    await this.#context.record?.close();
  }

  async #answer(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<StopReason> {
    const { record } = this.#context;
    const text = promptText(prompt);
    const typed = parseCommand(text, []);
    if (typed?.kind === "mcp") record?.hide(secretsIn(typed.words));
    for (const content of prompt) {
      record?.add({ sessionUpdate: "user_message_chunk", content });
    }
    this.#outlet.beginAnswer();
    this.#outlet.entitle(text);
    try {
      if (!/^\/mcp\b/.test(text)) {
        await this.#wait(signal);
        await this.#wake(signal);
      }
      // The list of servers says the same.
      this.#health.report(/^\/mcp(?:\s+status)?$/.test(text));
      // The name of a prompt's command has a colon, and its server may have come just now.
      if (/^\/\S+:/.test(text)) await untilAborted(this.#commands.read(), signal, cancelled);
      const turn = this.#turnFor(prompt, signal);
      const command = parseCommand(text, this.#commands.prompts);
      const reason = await this.#respond(command, turn);
      if (command?.kind === "mcp") {
        this.#health.report(true);
        // Servers may have come or gone with it, and their prompts with them.
        this.#commands.announceSoon();
      }
      return signal.aborted ? "cancelled" : reason;
    } catch (error) {
      if (signal.aborted) return "cancelled";
      throw error;
    }
  }

  async #respond(command: Command | undefined, turn: Turn): Promise<StopReason> {
    const { responder, modelAdvice } = this.#context;
    if (responder === undefined) {
      return command === undefined
        ? answerWithoutModel(turn, modelAdvice)
        : runCommand(command, turn);
    }
    if (command !== undefined && command.kind !== "prompt") return runCommand(command, turn);
    if (command === undefined) return responder.answer(turn);
    const messages = await promptForModel(command, turn);
    return messages === undefined ? "end_turn" : responder.answer({ ...turn, prompt: messages });
  }

  #turnFor(prompt: readonly ContentBlock[], signal: AbortSignal): Turn {
    const outlet = this.#outlet;
    return {
      prompt: prompt.map(fromAcp),
      signal,
      board: this.#board,
      tools: () => this.#calls.tools(),
      emit: (update) => outlet.emit(update),
      say: (text) => outlet.say(text),
      notify: (text) => outlet.notify(text),
      call: (tool, args) => this.#calls.run(tool, args, signal),
    };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#hasWaited) return;
    this.#hasWaited = true;
    const starting = this.#health.starting();
    if (starting.length === 0) return;
    this.#outlet.think(`Waiting for ${starting.join(", ")} to start.\n`);
    await this.#health.settled(this.#context.clock, FIRST_WAIT_MS, signal);
    const late = this.#health.starting();
    if (late.length === 0) return;
    this.#outlet.notify(
      `${late.join(", ")}: still starting; the tools can be used once it is ready`,
    );
  }

  /** What idled away comes up meanwhile; what somebody has signed in to is worth a moment. */
  async #wake(signal: AbortSignal): Promise<void> {
    const woken = within(this.#context.clock, LOGIN_WAIT_MS, this.#board.wake());
    await untilAborted(woken, signal, cancelled);
  }

  /** After the answer that tells the client the session's id: it knows of no session before. */
  #greet(notices: readonly string[]): void {
    this.#greeting = this.#context.clock.after(0, () => {
      for (const notice of notices) this.#outlet.notify(notice);
      this.#health.report();
      void this.#commands.announce();
    });
    this.#preparation.soon();
  }
}
