// The applications of this machine: which have the board, and buttons that put it in or take it out, with the exact change.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { ApplicationFacts } from "../../serve/gateway/page/wire.ts";
import { ask } from "../gateway.ts";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";

const WORDS = {
  absent: "not connected",
  connected: "connected",
  broken: "connected, but broken",
  unreadable: "its file cannot be read",
} as const;

export function Applications(): VNode | null {
  const found = useSignal<readonly ApplicationFacts[] | undefined>(undefined);
  const look = async (): Promise<void> => {
    const answer = await ask("applications/list", {}).catch(() => undefined);
    if (answer !== undefined) found.value = answer.applications;
  };
  useEffect(() => void look(), []);
  if (found.value === undefined) return null;
  return (
    <section aria-labelledby="applications">
      <h2 id="applications">Applications of this machine</h2>
      <p class="quiet">
        Connecting puts one entry into the application's own file, which starts your board. You see
        the change first, and can take it back.
      </p>
      {found.value.length === 0 && <p>None of the applications that Plugboard knows is here.</p>}
      <ul class="plain">
        {found.value.map((application) => (
          <Application
            key={application.id}
            application={application}
            onChange={() => void look()}
          />
        ))}
      </ul>
    </section>
  );
}

function Application({
  application,
  onChange,
}: {
  application: ApplicationFacts;
  onChange: () => void;
}): VNode {
  const { id, name, file, state, problem } = application;
  const said = useSignal<string | undefined>(undefined);
  const done = (words: string | undefined): void => {
    said.value = words;
    onChange();
  };
  const isIn = state === "connected" || state === "broken";
  return (
    <li class="application">
      <p>
        <strong>{name}</strong> {WORDS[state]} <code class="quiet">{file}</code>
      </p>
      {problem !== undefined && (
        <p class="problem">
          <Foreign text={problem} most={300} />
        </p>
      )}
      {said.value !== undefined && (
        <p role="status">
          <Foreign text={said.value} most={500} />
        </p>
      )}
      {state !== "unreadable" && (
        <div class="actions">
          {state !== "connected" && (
            <ChangeButton
              change={() => ({ kind: "connect", application: id, undo: false })}
              label={`Connect ${name}`}
              confirm="Connect it"
              onDone={done}
            >
              Connect…
            </ChangeButton>
          )}
          {isIn && (
            <ChangeButton
              change={() => ({ kind: "connect", application: id, undo: true })}
              label={`Take out of ${name}`}
              confirm="Take it out"
              onDone={done}
            >
              Take out…
            </ChangeButton>
          )}
        </div>
      )}
    </li>
  );
}
