// Clients: who uses the gateway, over HTTP and from commands of this machine.

import type { VNode } from "preact";
import type { Person } from "../../serve/gateway/page/wire.ts";
import { Foreign } from "../parts/foreign.tsx";
import { Ago } from "../parts/time.tsx";
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
  return (
    <section>
      <h2>{title}</h2>
      <div class="scroll" role="group" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Program</th>
              <th scope="col">Who</th>
              <th scope="col">Agent</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ name, who, agent, since, lastSeen = since }) => (
              <tr key={`${name} ${who} ${agent} ${since}`}>
                <th scope="row">
                  <Foreign text={name === "" ? "a program without a name" : name} most={100} />
                </th>
                <td>
                  <Foreign text={who} most={100} />
                </td>
                <td>{agent}</td>
                <td>
                  <Ago at={lastSeen} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
