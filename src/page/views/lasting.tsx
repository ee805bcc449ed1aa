// What you have always allowed: each answer can be taken back.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { LastingApproval } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Ago } from "../parts/time.tsx";
import { isOwner, waiting } from "../store.ts";

export function Lasting(): VNode {
  const changes = useSignal(0);
  // Asked again when something was answered here or elsewhere.
  const asked = { round: changes.value + waiting.value.length };
  const found = useAsked("approvals/lasting", asked).value;
  const shown = found instanceof GatewayError ? undefined : found;
  return (
    <section aria-labelledby="lasting">
      <h2 id="lasting">Always allowed</h2>
      <Waiting answer={found} />
      {shown?.approvals.length === 0 && (
        <p class="quiet">Nothing. Where a rule says so, you are asked each time.</p>
      )}
      {shown && shown.approvals.length > 0 && (
        <ul class="rows">
          {shown.approvals.map((approval) => (
            <Row
              key={JSON.stringify(approval)}
              approval={approval}
              onForgotten={() => {
                changes.value += 1;
              }}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({
  approval,
  onForgotten,
}: {
  approval: LastingApproval;
  onForgotten: () => void;
}): VNode {
  const problem = useSignal<string | undefined>(undefined);
  const { tool, agent, caller, at, config } = approval;
  const forget = async (): Promise<void> => {
    try {
      await ask("approvals/forget", approval);
      onForgotten();
    } catch (error) {
      problem.value = error instanceof GatewayError ? error.message : String(error);
    }
  };
  return (
    <li>
      <Foreign text={tool} most={200} />{" "}
      <span class="quiet">
        for {caller === undefined ? "you" : <Foreign text={caller} most={100} />} (agent {agent}
        {config !== undefined && <>, {config}</>}), since <Ago at={at} />
      </span>{" "}
      {isOwner.value && (
        <button type="button" aria-label={`Ask again: ${tool}`} onClick={() => void forget()}>
          Ask again
        </button>
      )}
      {problem.value && <span role="alert">{problem.value}</span>}
    </li>
  );
}
