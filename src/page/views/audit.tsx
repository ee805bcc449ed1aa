// Audit: the calls on record, in all files, searched and saved.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { type AuditRow, AUDIT_PAGE, type PageRequests } from "../../serve/gateway/page/wire.ts";
import { asText } from "../../util/text.ts";
import { ask, GatewayError } from "../gateway.ts";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { newAttempt, Problem } from "../parts/attempt.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { csv, jsonLines } from "../parts/export.ts";
import { Pager } from "../parts/pager.tsx";
import { save } from "../parts/save.ts";
import { size } from "../parts/size.ts";
import { Table } from "../parts/table.tsx";
import { Ago, took, waiting } from "../parts/time.tsx";
import { linkTo } from "../route.ts";

type Query = PageRequests["audit/search"]["takes"];

const NOTHING: Query = {};
const query = signal<Query>(NOTHING);
const from = signal(0);
const { problem, run } = newAttempt();
/** What one export takes at most. */
const MOST_SAVED = 5000;

const FIELDS = [
  ["tool", "Tool", "read_*"],
  ["server", "Server", ""],
  ["caller", "Caller", ""],
  ["rule", "Rule", ""],
] as const;

export function Audit(): VNode {
  const found = useAsked("audit/search", { ...query.value, from: from.value }).value;
  const shown = found instanceof GatewayError ? undefined : found;
  return (
    <>
      <h1>Audit</h1>
      <Search />
      <Waiting answer={found} />
      {shown && shown.rows.length === 0 && (
        <p>
          {Object.keys(query.value).length === 0
            ? "No call is on record yet."
            : "No call on record fits."}
        </p>
      )}
      {shown && shown.rows.length > 0 && <Rows rows={shown.rows} />}
      {shown && (
        <p class="actions">
          <Pager from={from} size={AUDIT_PAGE} hasMore={shown.hasMore} back="Later" on="Earlier" />
          <button type="button" onClick={() => void saveAll("jsonl")}>
            Save as JSON lines
          </button>
          <button type="button" onClick={() => void saveAll("csv")}>
            Save as CSV
          </button>
          {problem.value && <Problem error={problem.value} />}
        </p>
      )}
      {shown && shown.damaged > 0 && (
        <p class="problem">{shown.damaged} lines of the files cannot be read.</p>
      )}
      {shown && shown.where.length > 0 && (
        <p class="quiet">
          In <code>{shown.where.join(", ")}</code>
        </p>
      )}
    </>
  );
}

function change(part: Partial<Query>): void {
  const next = Object.entries({ ...query.value, ...part }).filter(([, value]) => value !== "");
  query.value = Object.fromEntries(next);
  from.value = 0;
}

/** The time in the text of an input, which has no time zone. */
function timeIn(text: string): { time: number } | undefined {
  const time = new Date(text).getTime();
  return Number.isNaN(time) ? undefined : { time };
}

function Search(): VNode {
  return (
    <form class="actions" onSubmit={(event) => event.preventDefault()}>
      {FIELDS.map(([name, label, example]) => (
        <label key={name} class="search">
          {label}
          <input
            type="search"
            placeholder={example}
            value={query.value[name] ?? ""}
            onInput={(event) => change({ [name]: event.currentTarget.value })}
          />
        </label>
      ))}
      <label class="search">
        Outcome
        <select
          value={query.value.outcome ?? ""}
          onChange={(event) => change({ outcome: event.currentTarget.value as Query["outcome"] })}
        >
          <option value="">any</option>
          <option value="ok">ok</option>
          <option value="failed">failed</option>
          <option value="refused">refused</option>
          <option value="suspicious">suspicious</option>
          <option value="decision">decided by a person</option>
        </select>
      </label>
      {(["since", "until"] as const).map((name) => (
        <label key={name} class="search">
          {name === "since" ? "From" : "To"}
          <input
            type="datetime-local"
            onChange={(event) => {
              const { [name]: _, ...rest } = query.value;
              const given = timeIn(event.currentTarget.value);
              query.value = given === undefined ? rest : { ...rest, [name]: given.time };
              from.value = 0;
            }}
          />
        </label>
      ))}
    </form>
  );
}

function Rows({ rows }: { rows: readonly AuditRow[] }): VNode {
  return (
    <Table
      label="Calls on record"
      columns={[
        ["Tool"],
        ["Outcome"],
        ["Guard", "wide"],
        ["By", "wide"],
        ["Took", "number"],
        ["Answer", "number wide"],
        ["When", "when"],
      ]}
    >
      {rows.map((row, at) => (
        <Row key={`${row.time} ${at}`} row={row} />
      ))}
    </Table>
  );
}

function Row({ row }: { row: AuditRow }): VNode {
  const name = [row.server, row.tool].filter(Boolean).join("/");
  return (
    <tr>
      <th scope="row">
        {row.call === undefined ? (
          <Foreign
            text={name === "" && row.type === "lost" ? "lines that are missing" : name}
            most={200}
          />
        ) : (
          <a href={linkTo("activity", row.call)}>
            <Foreign text={name} most={200} />
          </a>
        )}
      </th>
      <td>
        <span class={`state ${toneOf(row)}`}>{outcomeOf(row)}</span>
        {row.arguments && (
          <small>
            <Foreign text={JSON.stringify(row.arguments)} most={300} />
          </small>
        )}
      </td>
      <td class="wide">
        <Foreign text={[row.decision, row.rule].filter(Boolean).join(": ")} most={200} />
      </td>
      <td class="wide">
        <Foreign
          text={[row.caller, row.session].filter(Boolean).join(", ") || row.agent || ""}
          most={100}
        />
      </td>
      <td class="number">
        {row.durationMs === undefined ? "" : took(row.durationMs)}
        {row.waitedMs !== undefined && <small>+ {waiting(row.waitedMs)}</small>}
      </td>
      <td class="number wide">{row.bytes === undefined ? "" : size(row.bytes)}</td>
      <td class="when">
        <Ago at={Date.parse(row.time)} />
      </td>
    </tr>
  );
}

function outcomeOf({ type, outcome, count, patterns, decided }: AuditRow): string {
  switch (type) {
    case "lost":
      return `${count} calls not recorded`;
    case "suspicious":
      return `suspicious: ${patterns?.join(", ")}`;
    case "start":
      return "no end";
    case "decision":
      return decided ?? "";
    case "call":
      return outcome ?? "";
  }
}

function toneOf({ type, outcome, decision }: AuditRow): string {
  if (type === "decision") return "quiet";
  if (type === "suspicious" || decision === "refused") return "warn";
  return outcome === "ok" || outcome === "input" ? "good" : "bad";
}

const COLUMNS = [
  "time",
  "type",
  "agent",
  "session",
  "caller",
  "server",
  "tool",
  "decision",
  "rule",
];
const MORE = ["outcome", "decided", "durationMs", "waitedMs", "bytes", "arguments"];

function saveAll(kind: "jsonl" | "csv"): Promise<void> {
  return run(async () => {
    const { rows } = await ask("audit/search", { ...query.value, most: MOST_SAVED });
    const plain = rows.map((row) => {
      const { call: _, ...line } = row;
      return line;
    });
    const columns = [...COLUMNS, ...MORE];
    const cells = (row: object): string[] =>
      columns.map((column) => asText((row as Record<string, unknown>)[column] ?? ""));
    if (kind === "jsonl") save("plugboard-audit.jsonl", "application/jsonl", jsonLines(plain));
    else save("plugboard-audit.csv", "text/csv", csv(columns, plain.map(cells)));
  });
}
