// Limits how many calls run at once, per server and per tool. Further calls wait before they are sent, so that the
// wait does not count towards `toolTimeout`: those of one caller in order, and the callers in rotation. Reads of
// resources and prompts count only where a pattern names them.

import { cancelled } from "../types/errors.ts";
import type { Stage, StageFor, Subject } from "../types/guard.ts";
import { namedExceptionFor } from "../types/per-tool.ts";
import { toolName } from "../types/tool-pattern.ts";
import type { CallSignal } from "../../util/abort.ts";
import { sayTool } from "../../util/text.ts";
import { countedAs, exceptionCountedAs, type ServerGuards } from "./server-guards.ts";
import { LIMIT_STRICTNESS } from "./strictest.ts";

/** By name, so that a tool whose definition changes does not get additional permits. */
export type Permits = Map<string, Semaphore>;

/** `semaphores` are those of an earlier configuration: the calls that have their permits go on. */
export function concurrencyStage(
  servers: ServerGuards,
  semaphores: Permits = new Map<string, Semaphore>(),
): StageFor {
  function limit(subject: Subject, name: string, permits: number | undefined): Semaphore[] {
    if (permits === undefined) return [];
    const key = countedAs(subject, name);
    const known = semaphores.get(key) ?? new Semaphore(permits);
    semaphores.set(key, known);
    known.resize(permits);
    return [known];
  }

  return (subject) => {
    if (subject.source.kind !== "mcp") return undefined;
    const { concurrency } = servers.own(subject);
    const exception = namedExceptionFor(concurrency, toolName(subject), LIMIT_STRICTNESS);
    const counted = exceptionCountedAs(subject, exception?.text);
    // The tool's is the outer one: a call that waits for it must not hold a permit of the server meanwhile.
    const stages = [
      ...limit(subject, counted, exception?.value),
      ...(subject.content ? [] : limit(subject, subject.source.server, concurrency?.default)),
    ].map(withPermit);
    return stages.length === 0 ? undefined : stages;
  };
}

function withPermit(permits: Semaphore): Stage {
  return {
    name: "concurrency",
    before({ signal, caller, onUpdate, subject }) {
      const waiting = permits.acquire(signal, caller);
      if (waiting !== undefined && onUpdate !== undefined) {
        const text = `waits until another call to ${sayTool(subject.canonical)} or its server has ended: concurrency limits how many run at a time`;
        onUpdate({ content: [{ type: "text", text }] });
      }
      return waiting;
    },
    after(_, outcome) {
      permits.release();
      return outcome;
    },
    failed(_, error) {
      permits.release();
      throw error;
    },
  };
}

interface Waiter {
  grant: () => void;
}

/** A number of permits. Who asks for many does not make the others wait for all of them: each gets one in its turn. */
export class Semaphore {
  #permits: number;
  /** Below 0 while more permits are in use than there are by now. */
  #free: number;
  /**
   * By who waits, whose turn is next first. A set keeps its order, and a call that gives up waiting is removed in constant
   * time.
   */
  readonly #waiting = new Map<string | undefined, Set<Waiter>>();

  constructor(permits: number) {
    this.#permits = permits;
    this.#free = permits;
  }

  /** Permits that are in use stay valid. */
  resize(permits: number): void {
    this.#free += permits - this.#permits;
    this.#permits = permits;
    while (this.#free > 0 && this.#waiting.size > 0) {
      this.#free -= 1;
      this.#grantNext();
    }
  }

  /**
   * Undefined if a permit is free: awaiting a promise would let others overtake a call that needs several
   * permits. One `release` must follow. Throws or rejects with CANCELLED on abort.
   */
  acquire(signal: CallSignal | undefined, who?: string): Promise<void> | undefined {
    if (signal?.aborted) throw cancelled(signal);
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        own.delete(waiter);
        if (own.size === 0) this.#waiting.delete(who);
        reject(cancelled(signal));
      };
      const waiter = {
        grant: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const own = this.#waiting.get(who) ?? new Set();
      this.#waiting.set(who, own.add(waiter));
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Passes the permit on to the next in line. */
  release(): void {
    if (this.#waiting.size === 0 || this.#free < 0) {
      this.#free += 1;
      return;
    }
    this.#grantNext();
  }

  #grantNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [who, own] = first;
    const [next] = own;
    this.#waiting.delete(who);
    if (next === undefined) return;
    own.delete(next);
    // Behind all others.
    if (own.size > 0) this.#waiting.set(who, own);
    next.grant();
  }
}
