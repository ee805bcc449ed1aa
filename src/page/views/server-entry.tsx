// The configuration of one server: where it is written, its entry without credentials, and changes of it.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useId } from "preact/hooks";
import type { ServerEntryFacts, ServerFacts } from "../../serve/gateway/page/wire.ts";
import { SecretFields } from "../form/secret-fields.tsx";
import { ask, GatewayError } from "../gateway.ts";
import { Problem } from "../parts/attempt.tsx";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { linkTo } from "../route.ts";

export function ServerEntry({ server }: { server: ServerFacts }): VNode {
  const { agent, name, state, transport } = server;
  const found = useSignal<ServerEntryFacts | GatewayError | undefined>(undefined);
  const draft = useSignal<string | undefined>(undefined);
  const secrets = useSignal<Record<string, string>>({});
  const newSecret = useSignal("");
  const id = useId();
  const read = async (): Promise<void> => {
    draft.value = undefined;
    secrets.value = {};
    found.value = await ask("servers/entry", { agent, server: name }).catch(
      (error: unknown) => error as GatewayError,
    );
  };
  useEffect(() => void read(), [agent, name, state === "disabled"]);
  const entry = found.value;
  const of = { agent, server: name };
  if (entry === undefined) return <p class="quiet">Asking…</p>;
  if (entry instanceof GatewayError) return <Problem error={entry} />;
  return (
    <section aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Configuration</h2>
      <p>
        <code>
          <Foreign text={`${entry.file}:${entry.line}`} />
        </code>
      </p>
      <div class="field wide">
        <label for={id}>Its entry; credentials are not shown, and stay as they are</label>
        <textarea
          id={id}
          class="json"
          rows={Math.min(24, entry.json.split("\n").length + 1)}
          spellcheck={false}
          value={draft.value ?? entry.json}
          onInput={(event) => {
            draft.value = event.currentTarget.value;
          }}
        />
      </div>
      <SecretFields
        inputs={[]}
        kind={transport === "stdio" ? "variable" : "header"}
        values={secrets}
        newName={newSecret}
      />
      <p class="actions">
        <ChangeButton
          kind="primary"
          confirm="Write it"
          change={() => ({
            kind: "entry",
            ...of,
            json: draft.value ?? entry.json,
            secrets: secrets.value,
          })}
          onDone={() => void read()}
        >
          Save…
        </ChangeButton>
        <ChangeButton
          confirm={state === "disabled" ? "Enable it" : "Disable it"}
          change={() => ({
            kind: "server",
            action: state === "disabled" ? "enable" : "disable",
            ...of,
          })}
        >
          {state === "disabled" ? "Enable…" : "Disable…"}
        </ChangeButton>
        <ChangeButton
          confirm="Block changed tools"
          change={() => ({ kind: "pins", ...of, mode: "block" })}
          onDone={() => void read()}
        >
          Block changed tools…
        </ChangeButton>
        <ChangeButton
          kind="danger"
          confirm="Remove it"
          change={() => ({ kind: "server", action: "remove", ...of })}
          onDone={() => {
            location.hash = linkTo("servers");
          }}
        >
          Remove…
        </ChangeButton>
      </p>
    </section>
  );
}
