// Pins: what servers say differently from what you approved, word by word.

import { useSignal } from "@preact/signals";
import { diffWordsWithSpace } from "diff";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { ChangedDefinition, ChangedPart } from "../../serve/gateway/page/wire.ts";
import { visible } from "../../util/visible.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Ago } from "../parts/time.tsx";
import { changes, isOwner } from "../store.ts";

export function Pins(): VNode {
  const all = changes.value;
  return (
    <>
      <h1>Pins</h1>
      {all.length === 0 && (
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

/** One by one, each as it is shown: what has changed again meanwhile stays. */
function ApproveAll({ all }: { all: readonly ChangedDefinition[] }): VNode | null {
  const problem = useSignal<string | undefined>(undefined);
  const servers = [...new Set(all.map(({ server }) => server))]
    .map((server) => ({ server, own: all.filter((each) => each.server === server) }))
    .filter(({ own }) => own.length > 1);
  if (servers.length === 0) return null;
  const approve = async (own: readonly ChangedDefinition[]): Promise<void> => {
    problem.value = undefined;
    try {
      for (const { server, key, tool, hash } of own) {
        await ask("pins/approve", { server, key, hash, ...(tool !== undefined && { tool }) });
      }
    } catch (error) {
      problem.value = error instanceof GatewayError ? error.message : String(error);
    }
  };
  return (
    <p class="actions">
      {servers.map(({ server, own }) => (
        <button key={server} type="button" onClick={() => void approve(own)}>
          Approve all {own.length} of {server}
        </button>
      ))}
      {problem.value && <span role="alert">{problem.value}</span>}
    </p>
  );
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
        {kind === "new" ? "It appeared" : "It changed"} <Ago at={at} />.
      </p>
      <Parts pin={pin} />
      {isOwner.value && (
        <p class="actions">
          <Act method="pins/approve" body={pin} kind="primary" label={`Approve: ${name}`}>
            Approve
          </Act>
        </p>
      )}
    </article>
  );
}

type Found = { parts: ChangedPart[]; isCut: boolean } | GatewayError | undefined;

function Parts({
  pin,
}: {
  pin: Pick<ChangedDefinition, "server" | "key" | "tool" | "hash">;
}): VNode {
  const found = useSignal<Found>(undefined);
  useEffect(() => {
    void ask("pins/show", pin)
      .catch((error: unknown) => error as GatewayError)
      .then((answer) => {
        found.value = answer;
      });
  }, [pin.hash]);
  const shown = found.value;
  if (shown === undefined) return <p class="quiet">Asking…</p>;
  if (shown instanceof GatewayError) return <p role="alert">{shown.message}</p>;
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
