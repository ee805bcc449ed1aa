// A change of the configuration: a button that shows what it would do, and a dialog that confirms just that.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Change, ChangePreview } from "../../serve/gateway/page/wire.ts";
import { ask, GatewayError } from "../gateway.ts";
import { Problem, useAttempt } from "./attempt.tsx";
import { useKeptFocus } from "./kept-focus.ts";
import { Foreign } from "./foreign.tsx";

export interface ChangeButtonProps {
  /** Made when the button is pressed. */
  change: () => Change;
  children: ComponentChildren;
  kind?: "primary" | "danger";
  /** What the button is about, for those who only hear its name. */
  label?: string;
  /** What the button in the dialog says. */
  confirm?: string;
  /** With what a person should know about how it went. It is also shown beside the button, as long as that is there. */
  onDone?: (said: string | undefined) => void;
  /** It was confirmed, and not done. Whoever takes this shows it. */
  onFailed?: (error: GatewayError) => void;
}

export function ChangeButton(props: ChangeButtonProps): VNode {
  const { change, children, kind, label, confirm = "Confirm", onDone, onFailed } = props;
  const shown = useSignal<ChangePreview | undefined>(undefined);
  const said = useSignal<string | undefined>(undefined);
  const { isBusy, problem, run } = useAttempt();
  const own = useKeptFocus<HTMLButtonElement>();
  const look = (): Promise<void> =>
    run(async () => {
      said.value = undefined;
      shown.value = await ask("changes/preview", { change: change() });
    });
  const act = ({ hash }: ChangePreview): Promise<void> =>
    run(async () => {
      try {
        const answer = await ask("changes/confirm", { hash });
        said.value = answer.said;
        onDone?.(answer.said);
      } catch (error) {
        if (!(error instanceof GatewayError) || onFailed === undefined) throw error;
        onFailed(error);
      } finally {
        shown.value = undefined;
      }
    });
  return (
    <>
      <button
        ref={own}
        type="button"
        class={kind}
        aria-label={label}
        aria-disabled={isBusy.value}
        onClick={() => void look()}
      >
        {children}
      </button>
      {shown.value && (
        <Confirmation
          shown={shown.value}
          word={confirm}
          isBusy={isBusy.value}
          isDanger={kind === "danger"}
          onConfirm={act}
          onCancel={() => {
            shown.value = undefined;
          }}
        />
      )}
      {said.value !== undefined && (
        <output>
          <Foreign text={said.value} most={500} />
        </output>
      )}
      {problem.value && <Problem error={problem.value} />}
    </>
  );
}

interface ConfirmationProps {
  shown: ChangePreview;
  word: string;
  isBusy: boolean;
  isDanger: boolean;
  onConfirm: (shown: ChangePreview) => Promise<void>;
  onCancel: () => void;
}

function Confirmation(props: ConfirmationProps): VNode {
  const { shown, word, isBusy, isDanger, onConfirm, onCancel } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const own = dialog.current;
    own?.showModal();
    // It gives the focus back to the button that opened it.
    return () => own?.close();
  }, []);
  const { summary, about, starts, diff, warnings } = shown;
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onCancel}>
      <h2 id={id}>
        <Foreign text={summary} most={500} />
      </h2>
      {warnings.length > 0 && (
        <ul class="warnings">
          {warnings.map((warning) => (
            <li key={warning}>
              <Foreign text={warning} />
            </li>
          ))}
        </ul>
      )}
      {starts.length > 0 && (
        <>
          <h3>This would be started or used</h3>
          {starts.map(({ name, lines }) => (
            <div key={name}>
              <p>
                <Foreign text={name} most={500} />
              </p>
              <pre tabIndex={0} aria-label={`Command of ${name}`}>
                <Foreign text={lines.join("\n")} most={200_000} />
              </pre>
            </div>
          ))}
        </>
      )}
      {diff.length > 0 && (
        <>
          <h3>
            <Foreign text={about.file ?? "The file"} />
          </h3>
          <pre class="diff" tabIndex={0} aria-label="Difference">
            {diff.map(({ kind, text }, at) => (
              <DiffRow key={at} kind={kind} text={text} />
            ))}
          </pre>
        </>
      )}
      <p class="actions">
        <button
          type="button"
          class={isDanger ? "danger" : "primary"}
          aria-disabled={isBusy}
          onClick={() => void onConfirm(shown)}
        >
          {isBusy ? "Working…" : word}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </dialog>
  );
}

function DiffRow({ kind, text }: ChangePreview["diff"][number]): VNode {
  if (kind === "gap") return <span class="gap">{"⋯\n"}</span>;
  if (kind === "added") return <ins>{`+ ${text}\n`}</ins>;
  return kind === "removed" ? <del>{`- ${text}\n`}</del> : <span>{`  ${text}\n`}</span>;
}
