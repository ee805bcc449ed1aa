// Approvals: the calls that wait for a person, with everything one needs to decide.

import type { VNode } from "preact";
import type { WaitingCall } from "../../serve/gateway/page/wire.ts";
import { escapedJsonLines } from "../../util/visible.ts";
import { GatewayError } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { EditDiff } from "../parts/edit-diff.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { useKeptFocus } from "../parts/kept-focus.ts";
import { NotifyButton } from "../parts/notify.tsx";
import { Ago } from "../parts/time.tsx";
import { agents, isOwner, waiting } from "../store.ts";
import { linkTo } from "../route.ts";
import { Lasting } from "./lasting.tsx";
import { Refuse } from "./refuse.tsx";

export function Approvals(): VNode {
  const all = waiting.value;
  return (
    <>
      <h1>Approvals</h1>
      {isOwner.value && <NotifyButton />}
      {all.length === 0 && (
        <p class="quiet">
          No call waits. If a call needs approval and its client cannot ask, it waits here.{" "}
          {isOwner.value && (
            <>
              To be asked about a tool, choose that in <a href={linkTo("tools")}>its view</a>.
            </>
          )}
        </p>
      )}
      {all.map((call) => (
        <Approval key={call.id} call={call} />
      ))}
      <Lasting />
    </>
  );
}

/** One call that waits, with the buttons that decide. */
export function Approval({ call }: { call: WaitingCall }): VNode {
  const { id, tool, caller, agent, description, hints, trusted, reason, rule, since, until } = call;
  const own = useKeptFocus();
  return (
    <article ref={own} class="question" aria-labelledby={`call-${id}`}>
      <h2 id={`call-${id}`}>
        <Foreign text={tool} most={200} />
      </h2>
      <p>
        <strong>
          <Foreign text={caller} most={100} />
        </strong>
        {agents.value.size > 1 && ` (agent ${agent})`} asked <Ago at={since} />. Without an answer
        it is refused <Ago at={until} />.
      </p>
      <p class="sentence">
        {reason}
        {rule !== undefined && (
          <>
            {" "}
            (<code>{rule}</code>)
          </>
        )}
      </p>
      {description && (
        <blockquote>
          <Foreign text={description} />
        </blockquote>
      )}
      <p class="quiet">
        The server says: {saidOf(hints)}. {!trusted && "Nobody has checked that."}
      </p>
      {isOwner.value && <Arguments id={id} />}
      {isOwner.value && (
        <p class="actions">
          <Act
            method="approvals/answer"
            body={{ id, answer: "once" }}
            kind="primary"
            label={`Allow once: ${tool}`}
          >
            Allow once
          </Act>
          <Act
            method="approvals/answer"
            body={{ id, answer: "always" }}
            label={`Always allow: ${tool}`}
          >
            Always allow
          </Act>
        </p>
      )}
      {isOwner.value && <Refuse id={id} tool={tool} />}
    </article>
  );
}

function Arguments({ id }: { id: string }): VNode {
  const shown = useAsked("approvals/show", { id }).value;
  if (shown instanceof GatewayError) return <Waiting answer={shown} />;
  return (
    <>
      {shown !== undefined && <EditDiff args={shown.args} />}
      <pre tabIndex={0} aria-label="Arguments">
        <code>{shown === undefined ? "…" : escapedJsonLines(shown.args)}</code>
      </pre>
    </>
  );
}

function saidOf({ readOnly, destructive, idempotent, openWorld }: WaitingCall["hints"]): string {
  const said = [
    readOnly === true && "it only reads",
    destructive === true && "it may destroy something",
    destructive === false && "it destroys nothing",
    idempotent === true && "calling it twice does no more than once",
    openWorld === true && "it reaches the outside world",
  ].filter((each) => each !== false);
  return said.length === 0 ? "nothing about what it does" : said.join(", ");
}
