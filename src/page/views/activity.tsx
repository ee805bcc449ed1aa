// Activity: the calls of all agents as they happen.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { CallFacts } from "../../serve/gateway/page/wire.ts";
import { Foreign } from "../parts/foreign.tsx";
import { Ago, took } from "../parts/time.tsx";
import { calls } from "../store.ts";

const MOST_ROWS = 200;

export function Activity(): VNode {
  const search = useSignal("");
  const paused = useSignal<readonly CallFacts[] | undefined>(undefined);
  const all = paused.value ?? calls.value;
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter(({ tool, outcome, code = "" }) =>
    `${tool} ${outcome ?? "running"} ${code}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <h1>Activity</h1>
      <p class="actions">
        <label class="search">
          Find calls
          <input
            type="search"
            placeholder="tool, error, refused, running"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
            }}
          />
        </label>
        <button
          type="button"
          aria-pressed={paused.value !== undefined}
          onClick={() => {
            paused.value = paused.value === undefined ? calls.value : undefined;
          }}
        >
          {paused.value === undefined ? "Pause" : "Go on"}
        </button>
      </p>
      <CallTable calls={shown} />
    </>
  );
}

const OUTCOMES = { ok: ["✓", "good"], error: ["✕", "bad"], refused: ["⊘", "warn"] } as const;

export function CallTable({ calls: all }: { calls: readonly CallFacts[] }): VNode {
  if (all.length === 0)
    return (
      <p class="quiet">
        No calls yet. They are shown from the moment somebody first opens this page.
      </p>
    );
  return (
    <div class="scroll" role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Tool</th>
            <th scope="col">Agent</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {all.slice(0, MOST_ROWS).map((call) => (
            <tr key={call.id}>
              <td>
                <Ago at={call.at} />
              </td>
              <th scope="row">
                <Foreign text={call.tool} most={200} />
              </th>
              <td>{call.agent}</td>
              <td>
                <Outcome call={call} />
              </td>
              <td class="number">{call.ms === undefined ? "…" : took(call.ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Outcome({ call: { outcome, code, message } }: { call: CallFacts }): VNode {
  if (outcome === undefined) return <span class="state quiet">running</span>;
  const [mark, tone] = OUTCOMES[outcome];
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{mark}</span> {code ?? outcome}
      {message !== undefined && (
        <small>
          <Foreign text={message} most={300} />
        </small>
      )}
    </span>
  );
}
