// A button that asks the gateway for something: it waits for the answer, and says what went wrong beside it.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import type { PageRequests } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";

export interface ActProps<Name extends keyof PageRequests> {
  method: Name;
  body: PageRequests[Name]["takes"];
  children: ComponentChildren;
  kind?: "primary" | "danger";
  /** What the button is about, for those who only hear its name. */
  label?: string;
  /** Once the gateway has done it. */
  onDone?: () => void;
}

export function Act<Name extends keyof PageRequests>({
  method,
  body,
  children,
  kind,
  label,
  onDone,
}: ActProps<Name>): VNode {
  const isBusy = useSignal(false);
  const problem = useSignal<GatewayError | undefined>(undefined);
  const act = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = undefined;
    try {
      await ask(method, body);
      onDone?.();
    } catch (error) {
      if (error instanceof GatewayError) problem.value = error;
      else throw error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <button
        type="button"
        class={kind}
        aria-label={label}
        disabled={isBusy.value}
        onClick={() => void act()}
      >
        {children}
      </button>
      {problem.value && (
        <span role="alert" class="problem">
          {problem.value.message}
          {problem.value.hint && <small>{problem.value.hint}</small>}
        </span>
      )}
    </>
  );
}
