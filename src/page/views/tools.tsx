// Tools: one list over all servers, searched as a model searches.

import { signal, useSignalEffect } from "@preact/signals";
import type { VNode } from "preact";
import { type PageRequests, type ToolFacts, TOOLS_A_PAGE } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Waiting } from "../parts/asked.tsx";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { linkTo } from "../route.ts";
import { agents, isOwner, servers } from "../store.ts";

/** What was searched for stays when somebody comes back from a tool. */
const query = signal("");
const from = signal(0);
type Filter = Pick<PageRequests["tools/list"]["takes"], "server" | "verdict" | "effect">;
const filter = signal<Filter>({});
/** Raised when a rule was changed here. */
const changed = signal(0);
const found = signal<{ total: number; tools: ToolFacts[] } | GatewayError | undefined>(undefined);
let asked = 0;

/** The latest request counts, whichever answer comes first. */
async function find(): Promise<void> {
  asked += 1;
  const own = asked;
  const wanted = { query: query.value, from: from.value, ...filter.value };
  const answer = await ask("tools/list", wanted).catch((error: unknown) => error as GatewayError);
  if (own === asked) found.value = answer;
}

export function Tools(): VNode {
  useSignalEffect(() => {
    // Asked again whenever a server lists other tools.
    void [query.value, from.value, filter.value, changed.value];
    void [[...servers.value.values()].map(({ tools }) => tools).join(" ")];
    void find();
  });
  const shown = found.value;
  return (
    <>
      <h1>Tools</h1>
      <label class="search">
        Find a tool by what it does
        <input
          type="search"
          value={query.value}
          onInput={(event) => {
            query.value = event.currentTarget.value;
            from.value = 0;
          }}
        />
      </label>
      <Filters />
      <Waiting answer={shown} />
      {shown && !(shown instanceof GatewayError) && <ToolTable {...shown} />}
    </>
  );
}

function ToolTable({ total, tools }: { total: number; tools: readonly ToolFacts[] }): VNode {
  if (total === 0) {
    const isAsked = query.value !== "" || Object.keys(filter.value).length > 0;
    return (
      <p>
        {isAsked ? (
          "Nothing fits."
        ) : (
          <>
            No server has listed a tool yet. <a href={linkTo("servers")}>All servers</a>
          </>
        )}
      </p>
    );
  }
  const hasAgents = agents.value.size > 1;
  const last = from.value + tools.length;
  return (
    <>
      <p class="quiet">
        {total === 1
          ? "1 tool"
          : tools.length === total
            ? `${total} tools`
            : `${from.value + 1} to ${last} of ${total} tools`}
      </p>
      <Table
        columns={[
          ["Tool"],
          hasAgents && ["Agent"],
          ["What it does", "wide"],
          ["Its server says", "wide"],
          ["A call"],
          ["Tokens", "number"],
        ]}
      >
        {tools.map((tool) => (
          <tr key={`${tool.agent} ${tool.name}`}>
            <th scope="row">
              <a href={linkTo("tools", `${tool.agent}/${tool.canonical}`)}>
                <Foreign text={tool.canonical} most={120} />
              </a>
            </th>
            {hasAgents && <td>{tool.agent}</td>}
            <td class="wide">
              <Foreign text={tool.summary} most={200} />
            </td>
            <td class="wide">{effectOf(tool)}</td>
            <td>
              <Verdict tool={tool} />
            </td>
            <td class="number">{tool.tokens.toLocaleString()}</td>
          </tr>
        ))}
      </Table>
      {total > tools.length && query.value === "" && (
        <p class="actions">
          <Pager from={from} size={TOOLS_A_PAGE} hasMore={last < total} back="Before" on="After" />
        </p>
      )}
    </>
  );
}

const CHOICES = {
  verdict: { allowed: "is allowed", asks: "needs approval", refused: "is refused" },
  effect: {
    reads: "it only reads",
    writes: "it destroys nothing",
    destroys: "it may destroy",
  },
} as const;

function Filters(): VNode {
  const names = [...new Set([...servers.value.values()].map(({ name }) => name))].toSorted();
  const set = (key: keyof Filter, value: string): void => {
    const { [key]: _, ...others } = filter.value;
    filter.value = value === "" ? others : { ...others, [key]: value };
    from.value = 0;
  };
  const options = (of: Readonly<Record<string, string>>): VNode[] =>
    Object.entries(of).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ));
  return (
    <div class="actions filters">
      <label>
        Server{" "}
        <select
          value={filter.value.server ?? ""}
          onChange={(event) => set("server", event.currentTarget.value)}
        >
          <option value="">all</option>
          {options(Object.fromEntries(names.map((name) => [name, name])))}
        </select>
      </label>
      <label>
        A call{" "}
        <select
          value={filter.value.verdict ?? ""}
          onChange={(event) => set("verdict", event.currentTarget.value)}
        >
          <option value="">any</option>
          {options(CHOICES.verdict)}
        </select>
      </label>
      <label>
        Its server says{" "}
        <select
          value={filter.value.effect ?? ""}
          onChange={(event) => set("effect", event.currentTarget.value)}
        >
          <option value="">anything</option>
          {options(CHOICES.effect)}
        </select>
      </label>
    </div>
  );
}

const MARKS = { allowed: ["●", "good"], asks: ["▲", "warn"], refused: ["✕", "bad"] } as const;

/** What becomes of a call, and which rule says so. */
export function Verdict({ tool }: { tool: Pick<ToolFacts, "verdict"> }): VNode {
  const { kind, rule, reason } = tool.verdict;
  const [mark, tone] = MARKS[kind];
  return (
    <>
      <span class={`state ${tone}`}>
        <span aria-hidden="true">{mark}</span> {CHOICES.verdict[kind]}
      </span>
      {rule !== undefined && (
        <small>
          <Foreign text={reason === undefined ? rule : `${reason} (${rule})`} most={300} />
        </small>
      )}
    </>
  );
}

/** Allows the tool, asks before each call, or refuses it, in the file. */
export function Rules({ tool, onDone }: { tool: ToolFacts; onDone: () => void }): VNode | null {
  const { agent, server, ownName } = tool;
  if (!isOwner.value || server === undefined || ownName === undefined) return null;
  const words = { allow: "Allow", ask: "Ask each time", deny: "Refuse" } as const;
  const button = (verdict: keyof typeof words): VNode => (
    <ChangeButton
      key={verdict}
      confirm={words[verdict]}
      label={`${words[verdict]}: ${tool.canonical}`}
      kind={verdict === "deny" ? "danger" : undefined}
      change={() => ({ kind: "rule", agent, server, tool: ownName, verdict })}
      onDone={() => {
        changed.value += 1;
        onDone();
      }}
    >
      {words[verdict]}…
    </ChangeButton>
  );
  return <p class="actions">{(["allow", "ask", "deny"] as const).map(button)}</p>;
}

/** In a word; whether it is true, only a trusted server's word tells. */
export function effectOf({ hints, trusted }: Pick<ToolFacts, "hints" | "trusted">): string {
  const { readOnly, destructive } = hints;
  const said =
    destructive === true
      ? "may destroy"
      : readOnly === true
        ? "only reads"
        : destructive === false
          ? "destroys nothing"
          : "nothing";
  return trusted || said === "nothing" ? said : `${said} (unchecked)`;
}
