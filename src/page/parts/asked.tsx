// What a view has asked the gateway for: it shows that it waits, what came, or what went wrong.

import { type Signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { PageRequests } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError, home } from "../gateway.ts";

export type Answer<Name extends keyof PageRequests> =
  | PageRequests[Name]["gives"]
  | GatewayError
  | undefined;

/** Asks anew whenever the question or the gateway changes, and with `everyMs` again and again. The latest question counts. */
export function useAsked<Name extends keyof PageRequests>(
  method: Name,
  body: PageRequests[Name]["takes"],
  everyMs?: number,
): Signal<Answer<Name>> {
  const found = useSignal<Answer<Name>>(undefined);
  const question = JSON.stringify(body);
  useEffect(() => {
    let isOver = false;
    const look = async (): Promise<void> => {
      const answer = await ask(method, body).catch((error: unknown) => error as GatewayError);
      if (!isOver) found.value = answer;
    };
    void look();
    const timer = everyMs === undefined ? undefined : setInterval(() => void look(), everyMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [method, question, everyMs, home.value]);
  return found;
}

/** Undefined once there is an answer to show. */
export function Waiting({ answer }: { answer: object | undefined }): VNode | null {
  if (answer === undefined) return <p class="quiet">Asking…</p>;
  if (!(answer instanceof GatewayError)) return null;
  return (
    <p role="alert">
      {answer.message}
      {answer.hint && <small>{answer.hint}</small>}
    </p>
  );
}
