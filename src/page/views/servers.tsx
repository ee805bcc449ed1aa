// Servers: all of them in one table, those with a problem first.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { State, urgency } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { took } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { isOwner, serverKey, servers } from "../store.ts";

export function Servers(): VNode {
  const search = useSignal("");
  const all = [...servers.value.values()];
  const agents = new Set(all.map(({ agent }) => agent));
  const shown = all
    .filter(({ name }) => name.toLowerCase().includes(search.value.trim().toLowerCase()))
    .toSorted((a, b) => urgency(a) - urgency(b) || a.name.localeCompare(b.name));
  return (
    <>
      <h1>Servers</h1>
      <label class="search">
        Find a server
        <input
          type="search"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </label>
      {shown.length === 0 && (
        <p>
          {all.length > 0 ? (
            "None has this name."
          ) : (
            <>There are none yet. {isOwner.value && <a href={linkTo("add")}>Add a server</a>}</>
          )}
        </p>
      )}
      {shown.length > 0 && (
        <Table
          columns={[
            ["Server"],
            agents.size > 1 && ["Agent"],
            ["State"],
            ["Tools", "number"],
            ["Tokens", "number"],
            ["Calls", "number"],
            ["Failed", "number"],
            ["p50", "number"],
            ["p95", "number"],
          ]}
        >
          {shown.map((server) => {
            const { agent, name, state, perUser, tools, promptTokens, calls } = server;
            return (
              <tr key={serverKey(server)}>
                <th scope="row">
                  <a href={linkTo("servers", serverKey(server))}>{name}</a>
                </th>
                {agents.size > 1 && <td>{agent}</td>}
                <td>
                  <State state={state} perUser={perUser} />
                </td>
                <td class="number">{tools}</td>
                <td class="number">{promptTokens.toLocaleString()}</td>
                <td class="number">{calls.total}</td>
                <td class="number">{calls.failed}</td>
                <td class="number">{calls.p50 === undefined ? "–" : took(calls.p50)}</td>
                <td class="number">{calls.p95 === undefined ? "–" : took(calls.p95)}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </>
  );
}
