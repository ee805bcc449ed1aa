// Calls of this tab that run while you look at something else: they stay in sight, and can be cancelled from everywhere.

import type { VNode } from "preact";
import { linkTo, route } from "../route.ts";
import { type Run, runKey, runningNow } from "../runs.ts";
import { waiting } from "../store.ts";
import { Foreign } from "./foreign.tsx";

export function RunningElsewhere(): VNode | null {
  const { view, id } = route.value;
  const elsewhere = runningNow().filter((run) => view !== "tools" || runKey(run) !== id);
  if (elsewhere.length === 0) return null;
  return (
    <aside aria-label="Your calls" class="running">
      {elsewhere.map((run) => (
        <p key={runKey(run)}>
          <a href={linkTo("tools", runKey(run))}>
            <Foreign text={run.tool} most={100} />
          </a>{" "}
          {asks(run) ? "asks you something" : "is running"}{" "}
          <button
            type="button"
            class="plain"
            aria-label={`Cancel ${run.tool}`}
            onClick={() => run.state.kind === "running" && run.state.abort.abort()}
          >
            Cancel
          </button>
        </p>
      ))}
    </aside>
  );
}

function asks({ state }: Run): boolean {
  if (state.kind !== "running") return false;
  return state.questions.length > 0 || waiting.value.some(({ call }) => call === state.call);
}
