// Refusing a call that waits, with words for the model that made it.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { Act } from "../parts/act.tsx";

const LONGEST = 1000;

export function Refuse({ id, tool }: { id: string; tool: string }): VNode {
  const reason = useSignal("");
  const input = useId();
  const given = reason.value.trim();
  return (
    <p class="actions">
      <label class="search" for={input}>
        Why not, for the model to read
        <input
          id={input}
          type="text"
          maxLength={LONGEST}
          value={reason.value}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
      <Act
        method="approvals/answer"
        body={{ id, answer: "refuse", ...(given !== "" && { reason: given }) }}
        kind="danger"
        label={`Refuse: ${tool}`}
      >
        Refuse
      </Act>
    </p>
  );
}
