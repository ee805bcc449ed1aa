// Something that the gateway is asked for and may refuse: whether it is under way, and what went wrong.

import { type Signal, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { GatewayError } from "../gateway.ts";
import { Foreign } from "./foreign.tsx";

export interface Attempt {
  isBusy: Signal<boolean>;
  problem: Signal<GatewayError | undefined>;
  /**
   * Does nothing while it is under way: a button that waits keeps the focus, which one that is disabled loses. Whatever
   * the task rejects with but a GatewayError is a mistake of the page, and stays one.
   */
  run: (task: () => Promise<void>) => Promise<void>;
}

export function newAttempt(): Attempt {
  const isBusy = signal(false);
  const problem = signal<GatewayError | undefined>(undefined);
  const run = async (task: () => Promise<void>): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = undefined;
    try {
      await task();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy, problem, run };
}

export function useAttempt(): Attempt {
  return useMemo(newAttempt, []);
}

export function Problem({ error }: { error: GatewayError }): VNode {
  return (
    <span role="alert" class="problem">
      <Foreign text={error.message} />
      {error.hint && (
        <small>
          <Foreign text={error.hint} />
        </small>
      )}
      <small>{error.code}</small>
    </span>
  );
}
