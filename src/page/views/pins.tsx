// Pins: what servers say differently from what you approved, word by word.

import { diffWordsWithSpace } from "diff";
import type { VNode } from "preact";
import type { ChangedDefinition, ServerFacts } from "../../serve/gateway/page/wire.ts";
import { visible } from "../../util/visible.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { Problem, useAttempt } from "../parts/attempt.tsx";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Ago } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { changes, gateway, isOwner, lostPins, serverKey, servers } from "../store.ts";

export function Pins(): VNode {
  const all = changes.value;
  return (
    <>
      <h1>Pins</h1>
      {lostPins.value.map((server) => (
        <Lost key={serverKey(server)} server={server} />
      ))}
      {all.length === 0 && lostPins.value.length === 0 && (
        <p class="quiet">Every server describes its tools as you first saw or approved them.</p>
      )}
      {isOwner.value && <ApproveAll all={all} />}
      {all.map((change) => (
        <Change
          key={`${change.server} ${change.key} ${change.tool ?? ""} ${change.hash}`}
          change={change}
        />
      ))}
    </>
  );
}

function Lost({ server: { agent, name } }: { server: ServerFacts }): VNode {
  return (
    <section class="why" aria-label={name}>
      <p>
        <a href={linkTo("servers", `${agent}/${name}`)}>{name}</a> is blocked: its pins are lost, so
        nobody can tell what has changed, and all its tools are refused.
      </p>
      {isOwner.value && (
        <p>
          Its view names the file to restore. To pin the tools as they are now:{" "}
          <code>plugboard pins forget {name}</code>
        </p>
      )}
    </section>
  );
}

/** What the change means for calls, until somebody approves it. */
function consequenceOf({ server, tool, kind }: ChangedDefinition): string {
  const own = [...servers.value.values()].filter(({ name }) => name === server);
  if (own.length === 0) return "No server of this name is configured now.";
  const refusing = own.filter(({ refused }) => refused !== undefined);
  if (refusing.length === 0) return "It is used all the same: nothing blocks it.";
  const what =
    tool === undefined
      ? "All tools of this server are refused"
      : kind === "new"
        ? "It is not offered, and calls of it are refused,"
        : "Calls of it are refused";
  const where =
    refusing.length === own.length
      ? ""
      : ` for ${refusing.map(({ agent }) => `agent ${agent}`).join(", ")}`;
  return `Blocked: ${what}${where} until somebody approves it.`;
}

/** One by one, each as it is shown: what has changed again meanwhile stays. */
function ApproveAll({ all }: { all: readonly ChangedDefinition[] }): VNode | null {
  const { isBusy, problem, run } = useAttempt();
  const several = [...new Set(all.map(({ server }) => server))]
    .map((server) => ({ server, own: all.filter((each) => each.server === server) }))
    .filter(({ own }) => own.length > 1);
  if (several.length === 0) return null;
  const approve = (own: readonly ChangedDefinition[]): Promise<void> =>
    run(async () => {
      for (const { server, key, tool, hash } of own) {
        await ask("pins/approve", { server, key, hash, ...(tool !== undefined && { tool }) });
      }
    });
  return (
    <p class="actions">
      {several.map(({ server, own }) => (
        <button
          key={server}
          type="button"
          aria-disabled={isBusy.value}
          onClick={() => void approve(own)}
        >
          Approve all {own.length} of {server}
        </button>
      ))}
      {problem.value && <Problem error={problem.value} />}
    </p>
  );
}

/** Those for which it can still be blocked. */
function agentsWith(server: string): string[] {
  return [...servers.value.values()]
    .filter(({ name, refused }) => name === server && refused === undefined)
    .map(({ agent }) => agent);
}

function Change({ change }: { change: ChangedDefinition }): VNode {
  const { server, key, tool, kind, at, hash } = change;
  const name = tool === undefined ? `${server} (instructions)` : `${server}/${tool}`;
  const pin = { server, key, ...(tool !== undefined && { tool }), hash };
  return (
    <article class="question" aria-label={name}>
      <h2>
        <Foreign text={name} most={200} />
      </h2>
      <p>
        {kind === "new" ? "It appeared" : "It changed"} <Ago at={at} />. {consequenceOf(change)}
      </p>
      <Parts pin={pin} />
      {isOwner.value && (
        <p class="actions">
          <Act method="pins/approve" body={pin} kind="primary" label={`Approve: ${name}`}>
            Approve
          </Act>
          {gateway.value?.config !== undefined &&
            agentsWith(server).map((agent, _, all) => (
              <ChangeButton
                key={agent}
                label={`Block: ${name}${all.length > 1 ? ` (agent ${agent})` : ""}`}
                confirm="Refuse changed tools"
                change={() => ({ kind: "pins", agent, server, mode: "block" })}
              >
                Block…{all.length > 1 && ` (agent ${agent})`}
              </ChangeButton>
            ))}
        </p>
      )}
    </article>
  );
}

function Parts({
  pin,
}: {
  pin: Pick<ChangedDefinition, "server" | "key" | "tool" | "hash">;
}): VNode {
  const shown = useAsked("pins/show", pin).value;
  if (shown === undefined || shown instanceof GatewayError) return <Waiting answer={shown} />;
  return (
    <>
      {shown.parts.map(({ path, before = "", after = "" }) => (
        <div key={path}>
          <h3>
            <Foreign text={path} most={200} />
          </h3>
          <pre tabIndex={0} aria-label={path}>
            <Words before={before} after={after} />
          </pre>
        </div>
      ))}
      {shown.isCut && <p>There are more differences than are shown here.</p>}
    </>
  );
}

function Words({ before, after }: { before: string; after: string }): VNode {
  return (
    <>
      {diffWordsWithSpace(before, after).map(({ value, added, removed }, at) => {
        const text = value.split("\n").map(visible).join("\n");
        if (added) return <ins key={at}>{text}</ins>;
        return removed ? <del key={at}>{text}</del> : <span key={at}>{text}</span>;
      })}
    </>
  );
}
