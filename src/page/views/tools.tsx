// Tools: one list over all servers, searched as a model searches.

import { signal, useSignalEffect } from "@preact/signals";
import type { VNode } from "preact";
import { type ToolFacts, TOOLS_A_PAGE } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Foreign } from "../parts/foreign.tsx";
import { linkTo } from "../route.ts";
import { agents, servers } from "../store.ts";

/** What was searched for stays when somebody comes back from a tool. */
const query = signal("");
const from = signal(0);
const found = signal<{ total: number; tools: ToolFacts[] } | GatewayError | undefined>(undefined);
let asked = 0;

/** The latest request counts, whichever answer comes first. */
async function find(): Promise<void> {
  asked += 1;
  const own = asked;
  const answer = await ask("tools/list", { query: query.value, from: from.value }).catch(
    (error: unknown) => error as GatewayError,
  );
  if (own === asked) found.value = answer;
}

export function Tools(): VNode {
  useSignalEffect(() => {
    // Asked again whenever a server lists other tools.
    void [query.value, from.value, [...servers.value.values()].map(({ tools }) => tools).join(" ")];
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
      {shown === undefined ? (
        <p class="quiet">Asking…</p>
      ) : shown instanceof GatewayError ? (
        <p role="alert">{shown.message}</p>
      ) : (
        <ToolTable {...shown} />
      )}
    </>
  );
}

function ToolTable({ total, tools }: { total: number; tools: readonly ToolFacts[] }): VNode {
  if (total === 0) {
    return <p>{query.value === "" ? "No server has listed a tool yet." : "Nothing fits."}</p>;
  }
  const hasAgents = agents.value.size > 1;
  const last = from.value + tools.length;
  return (
    <>
      <p class="quiet">
        {tools.length === total ? total : `${from.value + 1} to ${last} of ${total}`} tools
      </p>
      <div class="scroll" role="group" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              {hasAgents && <th scope="col">Agent</th>}
              <th scope="col">What it does</th>
              <th scope="col">Says</th>
              <th scope="col" class="number">
                Tokens
              </th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <tr key={`${tool.agent} ${tool.name}`}>
                <th scope="row">
                  <a href={linkTo("tools", `${tool.agent}/${tool.canonical}`)}>
                    <Foreign text={tool.canonical} most={120} />
                  </a>
                </th>
                {hasAgents && <td>{tool.agent}</td>}
                <td>
                  <Foreign text={tool.summary} most={200} />
                </td>
                <td>{effectOf(tool)}</td>
                <td class="number">{tool.tokens.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total > tools.length && query.value === "" && (
        <p class="actions">
          <button
            type="button"
            disabled={from.value === 0}
            onClick={() => {
              from.value = Math.max(0, from.value - TOOLS_A_PAGE);
            }}
          >
            Before
          </button>
          <button
            type="button"
            disabled={last >= total}
            onClick={() => {
              from.value += TOOLS_A_PAGE;
            }}
          >
            After
          </button>
        </p>
      )}
    </>
  );
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
