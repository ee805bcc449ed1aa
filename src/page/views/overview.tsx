// Overview: what waits for you, how the servers are, what was called in the last hour, what it all takes of a prompt.

import type { VNode } from "preact";
import type { Minute } from "../../serve/gateway/page/wire.ts";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { State, urgency } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago, span } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { lookAt } from "../stream.ts";
import { Savings } from "./savings.tsx";
import {
  agents,
  changes,
  edit,
  gateway,
  gateways,
  isOwner,
  lostPins,
  minutes,
  serverKey,
  servers,
  waiting,
} from "../store.ts";

export function Overview(): VNode {
  return (
    <>
      <h1>Overview</h1>
      <Waiting />
      <Servers />
      <LastHour />
      <Prompts />
      <Gateway />
    </>
  );
}

function Waiting(): VNode {
  const signIns = [...servers.value.values()].filter(
    ({ state, perUser }) => state === "needs-auth" && perUser === undefined,
  );
  const rows: VNode[] = [
    ...waiting.value.map(({ id, tool, caller, since }) => (
      <li key={id}>
        <a href={linkTo("approvals")}>
          <Foreign text={caller} most={100} /> wants to call <Foreign text={tool} most={200} />
        </a>{" "}
        <Ago at={since} />
      </li>
    )),
    ...signIns.map((server) => (
      <li key={serverKey(server)}>
        <a href={linkTo("servers", serverKey(server))}>{server.name}</a> needs a sign-in
      </li>
    )),
    ...changes.value.map(({ server, key, tool, kind, at }) => (
      <li key={`${server} ${key} ${tool ?? ""}`}>
        <a href={linkTo("pins")}>
          <Foreign text={tool === undefined ? server : `${server}/${tool}`} most={200} />
        </a>{" "}
        {kind === "new" ? "is new" : "has changed"} <Ago at={at} />
      </li>
    )),
    ...lostPins.value.map((server) => (
      <li key={`lost ${serverKey(server)}`}>
        <a href={linkTo("pins")}>{server.name}</a> is blocked: its pins are lost
      </li>
    )),
    ...(edit.value === undefined
      ? []
      : [
          <li key="edit">
            An edit of the configuration is not applied: <Foreign text={edit.value.message} />{" "}
            {edit.value.kind === "waiting" && isOwner.value && (
              <ChangeButton confirm="Trust it" change={() => ({ kind: "trust" })}>
                Look at the edit…
              </ChangeButton>
            )}
          </li>,
        ]),
  ];
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waits for you</h2>
      {rows.length === 0 ? <p class="quiet">Nothing.</p> : <ul class="rows">{rows}</ul>}
    </section>
  );
}

function Servers(): VNode {
  const all = [...servers.value.values()].toSorted((a, b) => urgency(a) - urgency(b));
  if (all.length === 0) {
    return (
      <section aria-labelledby="servers">
        <h2 id="servers">Servers</h2>
        <p>There are none yet. {isOwner.value && <a href={linkTo("add")}>Add a server</a>}</p>
      </section>
    );
  }
  return (
    <section aria-labelledby="servers">
      <h2 id="servers">Servers</h2>
      <ul class="tiles">
        {all.map((server) => (
          <li key={serverKey(server)}>
            <a href={linkTo("servers", serverKey(server))}>{server.name}</a>
            <State state={server.state} perUser={server.perUser} />
            {server.state === "ready" && (
              <small>
                {server.tools === 1 ? "1 tool" : `${server.tools.toLocaleString()} tools`}
              </small>
            )}
            {server.why && server.state !== "needs-auth" && (
              <small>
                <Foreign text={server.why} most={200} />
              </small>
            )}
            {server.remedy && server.state !== "needs-auth" && (
              <small>
                <Foreign text={server.remedy} most={200} />
              </small>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const WIDTH = 600;
const HEIGHT = 60;

function LastHour(): VNode {
  const all = minutes.value;
  const total = (of: (minute: Minute) => number): number =>
    all.reduce((sum, minute) => sum + of(minute), 0);
  const calls = total((minute) => minute.calls);
  const errors = total((minute) => minute.errors);
  if (calls === 0) return <NoCalls />;
  const most = Math.max(1, ...all.map((minute) => minute.calls));
  const step = WIDTH / 60;
  const bars = (of: (minute: Minute) => number, kind: string): VNode[] =>
    all.map((minute, at) => {
      const height = (of(minute) / most) * HEIGHT;
      const x = WIDTH - (all.length - at) * step;
      return (
        <rect
          key={minute.at}
          class={kind}
          x={x}
          y={HEIGHT - height}
          width={step - 1}
          height={height}
        />
      );
    });
  return (
    <section aria-labelledby="hour">
      <h2 id="hour">The last hour</h2>
      <p>
        {calls === 1 ? "1 call" : `${calls} calls`}, {errors === 0 ? "none" : errors} failed
      </p>
      <svg
        class="plot"
        role="img"
        aria-label={`Calls in each minute of the last hour, at most ${most}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars((minute) => minute.calls, "calls")}
        {bars((minute) => minute.errors, "errors")}
      </svg>
    </section>
  );
}

function NoCalls(): VNode {
  return (
    <section aria-labelledby="hour">
      <h2 id="hour">The last hour</h2>
      <p>
        No calls.{" "}
        {isOwner.value && (
          <>
            <a href={linkTo("clients")}>Connect an application</a>, or{" "}
            <a href={linkTo("tools")}>call a tool</a> yourself.
          </>
        )}
      </p>
    </section>
  );
}

function Prompts(): VNode {
  return (
    <section aria-labelledby="prompts">
      <h2 id="prompts">In a prompt</h2>
      <Table
        columns={[
          ["Agent"],
          ["Tools", "number"],
          ["Tokens", "number"],
          ["Without search", "number"],
        ]}
      >
        {[...agents.value.values()].map(({ id, prompt }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td class="number">{prompt?.after.tools ?? "–"}</td>
            <td class="number">{prompt?.after.tokens.toLocaleString() ?? "–"}</td>
            <td class="number">{prompt?.before.tokens.toLocaleString() ?? "–"}</td>
          </tr>
        ))}
      </Table>
      {[...agents.value.values()]
        .filter(({ isOpen }) => isOpen)
        .map(({ id }) => (
          <Savings key={id} agent={id} />
        ))}
    </section>
  );
}

function Gateway(): VNode | null {
  const facts = gateway.value;
  if (facts === undefined) return null;
  return (
    <section aria-labelledby="gateway">
      <h2 id="gateway">Gateway</h2>
      <dl>
        <dt>Address for MCP clients</dt>
        <dd>
          <code>{facts.url}</code>
        </dd>
        {facts.replica && (
          <>
            <dt>This gateway</dt>
            <dd>
              <code>{facts.replica}</code>, one of several. What you see here are its own servers
              and calls
            </dd>
          </>
        )}
        {gateways.value.length > 1 && (
          <>
            <dt>The others</dt>
            {gateways.value
              .filter(({ home }) => home !== facts.home)
              .map(({ home, name }) => (
                <dd key={home}>
                  <code>{name}</code>{" "}
                  <button type="button" class="plain" onClick={() => lookAt(home)}>
                    Look at it
                  </button>
                </dd>
              ))}
          </>
        )}
        {facts.config && (
          <>
            <dt>Configuration</dt>
            <dd>
              <code>{facts.config}</code>
            </dd>
          </>
        )}
        <dt>Version</dt>
        <dd>{facts.version}</dd>
        <dt>Runs</dt>
        <dd>
          for {span(Date.now() - facts.since)}, process {facts.pid}
        </dd>
      </dl>
    </section>
  );
}
