// A button for something that changes a file: it shows exactly what would change, and does it once that is confirmed.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Change, ChangePreview } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Foreign } from "./foreign.tsx";

type Step =
  | { kind: "idle"; said?: string }
  | { kind: "busy" }
  | { kind: "shown"; preview: ChangePreview }
  | { kind: "failed"; error: GatewayError };

export function ConfirmChange({
  change,
  label,
  children,
  onDone,
}: {
  change: Change;
  /** What the button is about, for those who only hear its name. */
  label: string;
  children: ComponentChildren;
  onDone?: () => void;
}): VNode {
  const step = useSignal<Step>({ kind: "idle" });
  const run = async (next: () => Promise<Step>): Promise<void> => {
    step.value = { kind: "busy" };
    try {
      step.value = await next();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      step.value = { kind: "failed", error };
    }
  };
  const preview = (): Promise<void> =>
    run(async () => ({ kind: "shown", preview: await ask("changes/preview", { change }) }));
  const confirm = (hash: string): Promise<void> =>
    run(async () => {
      const { said } = await ask("changes/confirm", { hash });
      onDone?.();
      return { kind: "idle", ...(said !== undefined && { said }) };
    });
  const now = step.value;
  if (now.kind === "shown") {
    return (
      <Preview
        preview={now.preview}
        onConfirm={() => void confirm(now.preview.hash)}
        onLeave={() => {
          step.value = { kind: "idle" };
        }}
      />
    );
  }
  return (
    <>
      <button
        type="button"
        aria-label={label}
        disabled={now.kind === "busy"}
        onClick={() => void preview()}
      >
        {children}
      </button>
      {now.kind === "idle" && now.said !== undefined && (
        <output>
          <Foreign text={`Done. ${now.said}`} most={500} />
        </output>
      )}
      {now.kind === "failed" && (
        <span role="alert" class="problem">
          {now.error.message}
          {now.error.hint && <small>{now.error.hint}</small>}
        </span>
      )}
    </>
  );
}

const MARKS = { same: " ", added: "+", removed: "-", gap: "…" } as const;

function Preview({
  preview,
  onConfirm,
  onLeave,
}: {
  preview: ChangePreview;
  onConfirm: () => void;
  onLeave: () => void;
}): VNode {
  const { summary, about, starts, diff, warnings } = preview;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="question" aria-label={`Look before you confirm: ${summary}`}>
      <h3 tabIndex={-1} ref={heading}>
        <Foreign text={summary} most={500} />
      </h3>
      {about.file !== undefined && (
        <p>
          <code>{about.file}</code>
        </p>
      )}
      {warnings.map((text) => (
        <p key={text}>
          <Foreign text={text} />
        </p>
      ))}
      {starts.map(({ name, lines }) => (
        <div key={name}>
          <p>
            <Foreign text={name} most={500} />
          </p>
          <pre tabIndex={0} aria-label="What would be started">
            <code>{lines.join("\n")}</code>
          </pre>
        </div>
      ))}
      {diff.length > 0 && (
        <pre tabIndex={0} aria-label="Change of the file" class="diff">
          {diff.map(({ kind, text }, at) => (
            <span key={at} class={kind}>
              {`${MARKS[kind]} ${text}\n`}
            </span>
          ))}
        </pre>
      )}
      <p class="actions">
        <button type="button" class="primary" onClick={onConfirm}>
          Confirm
        </button>
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
      </p>
    </section>
  );
}
