// A button that asks the gateway for something: it waits for the answer, and says what went wrong beside it.

import type { ComponentChildren, VNode } from "preact";
import type { PageRequests } from "../../serve/gateway/page/wire.ts";
import { ask } from "../gateway.ts";
import { useKeptFocus } from "./kept-focus.ts";
import { Problem, useAttempt } from "./attempt.tsx";

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
  const { isBusy, problem, run } = useAttempt();
  const own = useKeptFocus<HTMLButtonElement>();
  const act = (): Promise<void> =>
    run(async () => {
      await ask(method, body);
      onDone?.();
    });
  return (
    <>
      <button
        ref={own}
        type="button"
        class={kind}
        aria-label={label}
        aria-disabled={isBusy.value}
        onClick={() => void act()}
      >
        {children}
      </button>
      {problem.value && <Problem error={problem.value} />}
    </>
  );
}
