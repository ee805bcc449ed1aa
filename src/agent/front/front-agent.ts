// The agent behind the front, for all sessions or for one: its process, which is started again when somebody asks for
// something after it has ended, and what the front itself asks it.

import { PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { type AgentEnd, type AgentProcess, howItEnded } from "./agent-process.ts";
import type { Line } from "../../util/line-reader.ts";
import { type Answer, encode, errorText, idKey, type OwnIds, type RpcId } from "./message.ts";

type AgentState =
  | { kind: "down" }
  | { kind: "starting"; started: Promise<void> }
  | { kind: "up"; process: AgentProcess }
  | { kind: "closed" };

export interface FrontAgentOptions {
  /** Rejects with SPAWN_FAILED. */
  start: () => Promise<AgentProcess>;
  /** The params of the client's `initialize`, once the agent has answered it. */
  handshake: () => JsonObject | undefined;
  /** The answer to an `initialize` that the front has repeated. */
  onHandshake: (result: unknown) => void;
  /** A line of `process`, which may have ended meanwhile. */
  onLine: (line: Line, process: AgentProcess) => Promise<void> | undefined;
  onEnd: (end: AgentEnd) => void;
  ids: OwnIds;
}

export class FrontAgent {
  readonly #options: FrontAgentOptions;
  readonly #asked = new Map<string, (answer: Answer | AgentEnd) => void>();
  #state: AgentState = { kind: "down" };
  /** The process before it was initialised, too. */
  #process: AgentProcess | undefined;

  constructor(options: FrontAgentOptions) {
    this.#options = options;
  }

  /** Undefined while there is none that takes messages. */
  get process(): AgentProcess | undefined {
    return this.#state.kind === "up" ? this.#state.process : undefined;
  }

  /**
   * Undefined if it runs. Otherwise it is started, with the client's `initialize` repeated unless that comes next, and
   * the promise is the same for all who wait for it. Rejects if it cannot be started.
   */
  ready(comesNext?: "initialize"): Promise<void> | undefined {
    switch (this.#state.kind) {
      case "up":
        return undefined;
      case "starting":
        return this.#state.started;
      case "closed":
        return Promise.reject(stopped());
      case "down": {
        const started = this.#start(
          comesNext === "initialize" ? undefined : this.#options.handshake(),
        );
        this.#state = { kind: "starting", started };
        // Callers that wait for the start hear of a failure. If nobody waits, the failure is no unhandled rejection.
        started.catch(() => {});
        return started;
      }
    }
  }

  /** What the front itself wants to know. Rejects if the agent ends before it answers. */
  async request(method: string, params: JsonObject): Promise<Answer> {
    const process = this.#process;
    if (process === undefined) throw stopped();
    const id = this.#options.ids.next();
    const answer = await new Promise<Answer | AgentEnd>((resolve) => {
      this.#asked.set(idKey(id), resolve);
      process.send(encode({ id, method, params }));
    });
    if ("stderr" in answer) throw endedError(answer);
    return answer;
  }

  /** Whether the answer is to a request of the front. */
  takeAnswer(id: RpcId, answer: Answer): boolean {
    this.#asked.get(idKey(id))?.(answer);
    this.#asked.delete(idKey(id));
    return this.#options.ids.has(id);
  }

  /** Ends its process. Whoever asks for something next starts another. */
  rest(): void {
    if (this.#state.kind !== "up") return;
    const { process } = this.#state;
    this.#state = { kind: "down" };
    void process.stop();
  }

  /** Idempotent; never rejects; resolves when nothing of it is left. */
  async stop(): Promise<void> {
    const started = this.#state.kind === "starting" ? this.#state.started : undefined;
    this.#state = { kind: "closed" };
    await this.#process?.stop();
    await started?.catch(() => {});
  }

  async #start(handshake: JsonObject | undefined): Promise<void> {
    // One that rests has to end first: what it has not answered is not the next one's to answer.
    const before = this.#process;
    await before?.stop();
    await before?.ended;
    let process: AgentProcess | undefined;
    try {
      const begun = await this.#options.start();
      process = begun;
      if (this.#isClosed()) throw stopped();
      this.#process = begun;
      void begun.read((line) => this.#options.onLine(line, begun));
      void begun.ended.then((end) => this.#ended(begun, end));
      if (handshake !== undefined) await this.#shakeHands(handshake);
      if (this.#isClosed()) throw stopped();
      this.#state = { kind: "up", process: begun };
    } catch (error) {
      if (!this.#isClosed()) this.#state = { kind: "down" };
      await process?.stop();
      throw error;
    }
  }

  async #shakeHands(params: JsonObject): Promise<void> {
    const { result, error } = await this.request("initialize", params);
    if (error === undefined) return this.#options.onHandshake(result);
    throw new PlugboardError(
      "HANDSHAKE_FAILED",
      `the agent was started again, but refuses to work: ${errorText(error)}`,
    );
  }

  #isClosed(): boolean {
    return this.#state.kind === "closed";
  }

  #ended(process: AgentProcess, end: AgentEnd): void {
    if (this.#process !== process) return;
    this.#process = undefined;
    if (this.#state.kind === "up") this.#state = { kind: "down" };
    for (const resolve of this.#asked.values()) resolve(end);
    this.#asked.clear();
    if (this.#state.kind !== "closed") this.#options.onEnd(end);
  }
}

/** ACP has no code for it. A client must not send a prompt again by itself: it may have had effects. */
export const AGENT_ENDED = -32010;

/**
 * The error for a client whose request the agent did not answer. `isKnown`: the agent has answered `initialize` before.
 */
export function endedAnswer(end: AgentEnd, isKnown: boolean): JsonObject {
  const { code, signal, stderr } = end;
  return {
    code: AGENT_ENDED,
    message: endedError(end, isKnown).message,
    data: { exitCode: code, signal, stderr },
  };
}

/** For the user of a program that has not answered `initialize`. */
export const CHECK_COMMAND =
  "Check that its command starts an ACP agent: some need an option for that, such as gemini --acp.";

function endedError(end: AgentEnd, isKnown = true): PlugboardError {
  const words = end.stderr.length === 0 ? "" : ` It wrote last:\n${end.stderr.join("\n")}`;
  return new PlugboardError(
    "CONNECTION_CLOSED",
    `The agent ${howItEnded(end)} before it answered. Your next request starts it again.${isKnown ? "" : ` ${CHECK_COMMAND}`}${words}`,
  );
}

export function stopped(): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", "the agent is being stopped");
}
