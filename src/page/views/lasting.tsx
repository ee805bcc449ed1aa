// What you have always allowed: each answer can be taken back.

import type { VNode } from "preact";
import type { LastingApproval } from "../../serve/gateway/page/wire.ts";
import { GatewayError } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Ago } from "../parts/time.tsx";
import { isOwner } from "../store.ts";

const LOOK_EVERY_MS = 1000;

export function Lasting(): VNode {
  // An answer is kept when the call that waited for it has read it, here or elsewhere.
  const found = useAsked("approvals/lasting", {}, LOOK_EVERY_MS).value;
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
            <Row key={JSON.stringify(approval)} approval={approval} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ approval: { label, ...approval } }: { approval: LastingApproval }): VNode {
  const { tool, agent, caller, at, config } = approval;
  return (
    <li>
      <Foreign text={tool} most={200} />{" "}
      <span class="quiet">
        for {caller === undefined ? "you" : <Foreign text={label ?? caller} most={200} />} (agent{" "}
        {agent}
        {config !== undefined && <>, {config}</>}), since <Ago at={at} />
      </span>{" "}
      {isOwner.value && (
        <Act method="approvals/forget" body={approval} label={`Ask again: ${tool}`}>
          Ask again
        </Act>
      )}
    </li>
  );
}
