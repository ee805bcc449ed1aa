// Activity: the calls of all agents as they happen.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import type { CallFacts } from "../../serve/gateway/page/wire.ts";
import { Foreign } from "../parts/foreign.tsx";
import { jsonLines } from "../parts/export.ts";
import { save } from "../parts/save.ts";
import { size } from "../parts/size.ts";
import { Table } from "../parts/table.tsx";
import { Ago, took, waiting } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { calls, leftOut } from "../store.ts";

const MOST_ROWS = 200;

/** They stay when somebody comes back from a call. */
const search = signal("");
const paused = signal<readonly CallFacts[] | undefined>(undefined);

export function Activity(): VNode {
  const all = paused.value ?? calls.value;
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter((call) => textOf(call).includes(wanted)).slice(0, MOST_ROWS);
  return (
    <>
      <h1>Activity</h1>
      <p class="actions">
        <label class="search">
          Find calls
          <input
            type="search"
            placeholder="tool, client, refused, running"
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
        <button
          type="button"
          disabled={shown.length === 0}
          onClick={() => save("plugboard-calls.jsonl", "application/jsonl", jsonLines(shown))}
        >
          Export
        </button>
      </p>
      {leftOut.value > 0 && (
        <p class="quiet">
          {leftOut.value.toLocaleString()} more calls are not listed: of a flood of calls, you see
          about 50 a second. The audit has all of them.
        </p>
      )}
      <CallTable
        calls={shown}
        none={
          all.length > 0
            ? "None of them fits."
            : "No calls yet. They are kept while somebody has this page open; the audit has the earlier ones."
        }
      />
    </>
  );
}

function textOf({ tool, outcome, code, who, command, agent, verdict, rule }: CallFacts): string {
  const words = [tool, outcome ?? "running", code, who, command, agent, verdict, rule];
  return words.filter(Boolean).join(" ").toLowerCase();
}

export function CallTable({
  calls: all,
  none,
}: {
  calls: readonly CallFacts[];
  none: string;
}): VNode {
  if (all.length === 0) return <p class="quiet">{none}</p>;
  return (
    <Table
      label="Calls"
      columns={[
        ["Tool"],
        ["Outcome"],
        ["By", "wide"],
        ["Took", "number"],
        ["Answer", "number wide"],
        ["When", "when"],
      ]}
    >
      {all.map((call) => (
        <tr key={call.id}>
          <th scope="row">
            <a href={linkTo("activity", call.id)}>
              <Foreign text={call.tool} most={200} />
            </a>
          </th>
          <td>
            <Outcome call={call} />
          </td>
          <td class="wide">
            <Foreign text={call.who ?? call.command ?? call.agent} most={100} />
          </td>
          <td class="number">
            {call.ms === undefined ? "…" : took(call.ms)}
            {call.waitedMs !== undefined && <small>+ {waiting(call.waitedMs)}</small>}
          </td>
          <td class="number wide">{call.bytes === undefined ? "" : size(call.bytes)}</td>
          <td class="when">
            <Ago at={call.at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const OUTCOMES = { ok: ["✓", "good"], error: ["✕", "bad"], refused: ["⊘", "warn"] } as const;

export function Outcome({ call }: { call: CallFacts }): VNode {
  const { outcome, code, message, verdict } = call;
  if (outcome === undefined) return <span class="state quiet">running</span>;
  const [mark, tone] = OUTCOMES[outcome];
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{mark}</span> {code ?? outcome}
      {verdict === "approved" && " (approved)"}
      {message !== undefined && (
        <small>
          <Foreign text={message} most={300} />
        </small>
      )}
    </span>
  );
}
