// What each server takes of a prompt, and what leaving it out would save.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { GatewayError } from "../gateway.ts";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { linkTo } from "../route.ts";

/** Asked for when somebody opens it: it takes the gateway a moment. */
export function Savings({ agent }: { agent: string }): VNode {
  const isOpen = useSignal(false);
  return (
    <details
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>What leaving a server out would save ({agent})</summary>
      {isOpen.value && <Servers agent={agent} />}
    </details>
  );
}

function Servers({ agent }: { agent: string }): VNode {
  const found = useAsked("prompts/show", { agent }).value;
  const shown = found instanceof GatewayError ? undefined : found;
  return (
    <>
      <Waiting answer={found} />
      {shown && (
        <ul class="rows">
          {shown.servers.map(({ server, tools, saves }) => (
            <li key={server}>
              <a href={linkTo("servers", `${agent}/${server}`)}>{server}</a>:{" "}
              {saves.toLocaleString()} tokens, {tools} tools
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
