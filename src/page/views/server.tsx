// One server: its state and why, what it takes, and what you can do with it.

import type { VNode } from "preact";
import type { StateKind } from "../../serve/gateway/page/wire.ts";
import { Act } from "../parts/act.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { State } from "../parts/state.tsx";
import { Ago, took, waiting } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { calls, gateway, isOwner, servers } from "../store.ts";
import { ServerEntry } from "./server-entry.tsx";
import { SignIn } from "./server-sign-in.tsx";
import { CallTable } from "./activity.tsx";
import { ServerParts } from "./server-parts.tsx";

/** Neither to be started nor to be stopped. */
const IS_OFF: ReadonlySet<StateKind> = new Set(["disabled", "untrusted"]);

export function Server({ id }: { id: string }): VNode {
  const server = servers.value.get(id);
  if (server === undefined) {
    return (
      <>
        <h1>
          <Foreign text={id} most={200} />
        </h1>
        <p>
          The configuration has no such server. <a href={linkTo("servers")}>All servers</a>
        </p>
      </>
    );
  }
  const { agent, name, state, perUser, at, why, code, remedy, target, transport } = server;
  const own = calls.value.filter((call) => call.server === name && call.agent === agent);
  return (
    <>
      <h1>{name}</h1>
      <p>
        <State state={state} perUser={perUser} /> {at !== undefined && <Ago at={at} />}
      </p>
      {why && state !== "needs-auth" && (
        <div class="why">
          <p>
            <Foreign text={why} />
          </p>
          {remedy && <p>{remedy}</p>}
          {code && <small>{code}</small>}
        </div>
      )}
      {perUser === "exchange" && (
        <p>Nobody signs in: the JWTs of callers are exchanged for its tokens.</p>
      )}
      {perUser === "sign-in" && <p>Each person signs in for themselves.</p>}
      {state === "needs-auth" && perUser !== "exchange" && isOwner.value && (
        <p>Press “Sign in…” and open the page that it names; the rest happens by itself.</p>
      )}
      {state === "stopped" && <p>Somebody has stopped it. Calls do not start it again.</p>}
      {!isOwner.value && state === "failed" && <p class="quiet">The owner sees why.</p>}
      {isOwner.value && (
        <p class="actions">
          {!IS_OFF.has(state) && (
            <Act method="servers/restart" body={{ agent, server: name }}>
              {state === "ready" || state === "starting" ? "Restart" : "Start"}
            </Act>
          )}
          {!IS_OFF.has(state) && state !== "stopped" && (
            <Act method="servers/stop" body={{ agent, server: name }}>
              Stop
            </Act>
          )}
          {transport !== "stdio" && perUser !== "exchange" && (
            <SignIn agent={agent} server={name} state={state} />
          )}
        </p>
      )}
      <dl>
        {target !== undefined && (
          <>
            <dt>{transport === "stdio" ? "Command" : "Address"}</dt>
            <dd>
              <code>
                <Foreign text={target} />
              </code>
            </dd>
          </>
        )}
        <dt>Agent</dt>
        <dd>{agent}</dd>
        <dt>Transport</dt>
        <dd>{transport}</dd>
        {server.pid !== undefined && (
          <>
            <dt>Process</dt>
            <dd>{server.pid}</dd>
          </>
        )}
        <dt>Restarts</dt>
        <dd>{server.restarts}</dd>
        <dt>Tools</dt>
        <dd>
          {server.tools}, roughly {server.promptTokens.toLocaleString()} tokens of a prompt
          {server.hiddenByRules > 0 && `; ${server.hiddenByRules} more are hidden by rules`}
        </dd>
        <dt>Calls</dt>
        <dd>
          {server.calls.total}, {server.calls.failed} failed, {server.calls.inFlight} running
          {server.calls.p50 !== undefined &&
            `; half of them took at most ${took(server.calls.p50)}, 95 % at most ${took(server.calls.p95 ?? 0)}`}
          {server.calls.waitedMs !== undefined && `, besides ${waiting(server.calls.waitedMs)}`}
        </dd>
      </dl>
      <ServerParts
        key={id}
        agent={agent}
        server={name}
        offers={`${server.tools} ${server.promptTokens}`}
      />
      {isOwner.value && gateway.value?.config !== undefined && <ServerEntry server={server} />}
      <h2>Its calls</h2>
      <CallTable calls={own.slice(0, 50)} none="No call of it was seen while this page was open." />
    </>
  );
}
