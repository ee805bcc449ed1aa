// Clients: who uses the gateway, over HTTP and from commands of this machine.

import type { VNode } from "preact";
import type { Person } from "../../serve/gateway/page/wire.ts";
import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, took } from "../parts/time.tsx";
import { gateway, isOwner, people } from "../store.ts";
import { Applications } from "./applications.tsx";
import { Tokens } from "./tokens.tsx";

export function Clients(): VNode {
  const { clients, sessions, commands } = people.value;
  return (
    <>
      <h1>Clients</h1>
      {clients.length + sessions.length + commands.length === 0 && (
        <p>
          Nobody is here yet. Connect an application of this machine, or make a token; clients reach
          the gateway at <code>{gateway.value?.url}</code>.
        </p>
      )}
      <PeopleTable title="Commands" people={commands} />
      <PeopleTable title="Sessions" people={sessions} />
      <PeopleTable title="Seen since the start" people={clients} />
      {isOwner.value && <Tokens />}
      {isOwner.value && <Applications />}
    </>
  );
}

function PeopleTable({
  title,
  people: all,
}: {
  title: string;
  people: readonly Person[];
}): VNode | null {
  if (all.length === 0) return null;
  const haveCalls = all.some(({ calls }) => calls !== undefined);
  const haveRequests = all.some(({ requests }) => requests !== undefined);
  return (
    <section>
      <h2>{title}</h2>
      <Table
        columns={[
          ["Program"],
          ["Who"],
          ["Agent"],
          haveRequests && ["Requests", "number"],
          haveCalls && ["Calls", "number"],
          haveCalls && ["Failed", "number"],
          haveCalls && ["p50", "number"],
          haveCalls && ["p95", "number"],
          [haveCalls ? "Since" : "Last seen"],
        ]}
      >
        {all.map(({ name, who, agent, since, lastSeen = since, requests, calls }) => (
          <tr key={`${name} ${who} ${agent} ${since}`}>
            <th scope="row">
              <Foreign text={name === "" ? "a program without a name" : name} most={100} />
            </th>
            <td>
              <Foreign text={who} most={100} />
            </td>
            <td>{agent}</td>
            {haveRequests && <td class="number">{requests?.toLocaleString()}</td>}
            {haveCalls && (
              <>
                <td class="number">{calls?.total}</td>
                <td class="number">{calls?.failed}</td>
                <td class="number">{calls?.p50 === undefined ? "–" : took(calls.p50)}</td>
                <td class="number">{calls?.p95 === undefined ? "–" : took(calls.p95)}</td>
              </>
            )}
            <td>
              <Ago at={lastSeen} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
