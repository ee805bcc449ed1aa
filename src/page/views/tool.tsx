// One tool: as a model sees it, and a form to call it, as fields, as JSON, or as the command to type.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { PageCallEvents, ToolDetails } from "../../serve/gateway/page/wire.ts";
import { shellQuoted } from "../../util/text.ts";
import { escapedJsonLines } from "../../util/visible.ts";
import { Form, JsonInput } from "../form/form.tsx";
import { ask, GatewayError } from "../gateway.ts";
import { Copyable } from "../parts/copy.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Question } from "../form/question.tsx";
import { Result } from "../parts/result.tsx";
import { Ago } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { runKey, runs, type RunState, startRun } from "../runs.ts";
import { changes, isOwner, serverKey, servers, waiting } from "../store.ts";
import { Approval } from "./approvals.tsx";
import { effectOf, Rules, Verdict } from "./tools.tsx";

const EVERY_MS = 2000;

export function ToolView({ id }: { id: string }): VNode {
  const found = useSignal<ToolDetails | GatewayError | undefined>(undefined);
  const slash = id.indexOf("/");
  const [agent, tool] = [id.slice(0, slash), id.slice(slash + 1)];
  const read = async (): Promise<void> => {
    found.value = await ask("tools/get", { agent, tool }).catch(
      (error: unknown) => error as GatewayError,
    );
  };
  useEffect(() => void read(), [agent, tool]);
  const details = found.value;
  // What a server has just listed is pinned a moment later.
  const isPinned = details === undefined || "pinnedAt" in details;
  useEffect(() => {
    if (isPinned) return;
    const timer = setInterval(() => void read(), EVERY_MS);
    return () => clearInterval(timer);
  }, [agent, tool, isPinned]);
  return (
    <>
      <h1>
        <Foreign text={tool} most={200} />
      </h1>
      {details === undefined && <p class="quiet">Asking…</p>}
      {details instanceof GatewayError && (
        <p role="alert">
          {details.message}. <a href={linkTo("tools")}>All tools</a>
        </p>
      )}
      {details !== undefined && !(details instanceof GatewayError) && (
        <Details tool={details} onRule={() => void read()} />
      )}
    </>
  );
}

function Details({ tool, onRule }: { tool: ToolDetails; onRule: () => void }): VNode {
  return (
    <>
      <dl>
        <dt>Its server says</dt>
        <dd>{effectOf(tool)}</dd>
        <dt>A call</dt>
        <dd>
          <Verdict tool={tool} />
        </dd>
        <Pin tool={tool} />
        {tool.server !== undefined && (
          <>
            <dt>Server</dt>
            <dd>
              <a href={linkTo("servers", `${tool.agent}/${tool.server}`)}>{tool.server}</a>
            </dd>
          </>
        )}
        <dt>In a prompt</dt>
        <dd>roughly {tool.tokens.toLocaleString()} tokens</dd>
        {tool.include && (
          <>
            <dt>Include</dt>
            <dd>{tool.include}</dd>
          </>
        )}
        {tool.ownerOnly && (
          <>
            <dt>Who may call it</dt>
            <dd>owners alone</dd>
          </>
        )}
      </dl>
      <Rules tool={tool} onDone={onRule} />
      <h2>As a model reads it</h2>
      <p>
        <code>
          <Foreign text={tool.name} most={200} />
        </code>
      </p>
      <blockquote>
        <Foreign text={tool.description} most={20_000} />
      </blockquote>
      <details>
        <summary>Schema</summary>
        <pre tabIndex={0} aria-label="Schema">
          <code>{escapedJsonLines(tool.parameters)}</code>
        </pre>
      </details>
      {tool.outputSchema && (
        <details>
          <summary>Schema of what it answers</summary>
          <pre tabIndex={0} aria-label="Schema of what it answers">
            <code>{escapedJsonLines(tool.outputSchema)}</code>
          </pre>
        </details>
      )}
      {isOwner.value ? <Call tool={tool} /> : <p class="quiet">Only the owner can call it here.</p>}
    </>
  );
}

/** Whether its definition is as it was approved. */
function Pin({ tool: { agent, server, ownName, pinnedAt } }: { tool: ToolDetails }): VNode | null {
  if (server === undefined) return null;
  const isRefused = servers.value.get(serverKey({ agent, name: server }))?.refused !== undefined;
  const change = changes.value.find((each) => each.server === server && each.tool === ownName);
  return (
    <>
      <dt>Its definition</dt>
      <dd>
        {change !== undefined ? (
          <>
            {change.kind === "new" ? "is new" : "has changed"} and not approved
            {isRefused && ", so calls are refused"}: <a href={linkTo("pins")}>look at it</a>
          </>
        ) : pinnedAt === undefined ? (
          "is not pinned"
        ) : (
          <>
            is as it was first seen or approved, <Ago at={pinnedAt} />
          </>
        )}
      </dd>
    </>
  );
}

const MODES = ["Form", "JSON", "Command"] as const;

function Call({ tool }: { tool: ToolDetails }): VNode {
  const run = runs.value.get(runKey({ agent: tool.agent, tool: tool.canonical }));
  const args = useSignal<Record<string, unknown>>(run?.args ?? {});
  const mode = useSignal<(typeof MODES)[number]>("Form");
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  const take = (value: unknown): void => {
    args.value = typeof value === "object" && value !== null ? { ...value } : {};
  };
  const state = run?.state;
  return (
    <section aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Call it</h2>
      <div class="modes" role="group" aria-label="How you give the arguments">
        {MODES.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={mode.value === each}
            onClick={() => {
              // What is not JSON yet has no other form: it stays where it is, and the browser says what is wrong with it.
              const wrong = form.current?.querySelector<HTMLTextAreaElement>(".json:invalid");
              if (wrong) wrong.reportValidity();
              else mode.value = each;
            }}
          >
            {each}
          </button>
        ))}
      </div>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (state?.kind !== "running") void startRun(tool, args.value);
        }}
      >
        {mode.value === "Form" && (
          <Form
            name="arguments"
            schema={tool.parameters}
            root={tool.parameters}
            value={args.value}
            onChange={take}
          />
        )}
        {mode.value === "JSON" && (
          <div class="field">
            <label for={id}>Arguments</label>
            <JsonInput id={id} value={args.value} onChange={take} rows={10} isObjectWanted />
          </div>
        )}
        {mode.value === "Command" && (
          <Copyable text={commandFor(tool, args.value)} label="Command" />
        )}
        <p class="actions">
          {state?.kind === "running" ? (
            // One button that changed its type would submit the form with the same click.
            <button key="cancel" type="button" class="danger" onClick={() => state.abort.abort()}>
              Cancel
            </button>
          ) : (
            <button key="call" type="submit" class="primary">
              Call
            </button>
          )}
        </p>
      </form>
      <output>
        {state?.kind === "running" && <Running progress={state.progress} />}
        {state?.kind === "failed" && (
          <p class="problem">
            {state.error.message}
            {state.error.hint && <small>{state.error.hint}</small>}
          </p>
        )}
        {state?.kind === "ended" && <Result outcome={state.outcome} />}
      </output>
      {state?.kind === "running" && <Asked state={state} />}
    </section>
  );
}

function Running({ progress }: { progress: PageCallEvents["progress"] | undefined }): VNode {
  return (
    <p>
      Running…{" "}
      {progress?.total !== undefined && (
        <progress value={progress.progress} max={progress.total} aria-label="Progress" />
      )}{" "}
      {progress?.message && <Foreign text={progress.message} most={300} />}
    </p>
  );
}

/** What this call waits for: your approval, or what its server asks you. */
function Asked({ state }: { state: Extract<RunState, { kind: "running" }> }): VNode {
  const { call, at, questions } = state;
  return (
    <>
      {waiting.value
        .filter((each) => each.call === call)
        .map((each) => (
          <Approval key={each.id} call={each} />
        ))}
      {call !== undefined &&
        questions.map((question) => (
          <Question key={question.id} call={call} at={at} question={question} />
        ))}
    </>
  );
}

/** What you would type in a shell. */
function commandFor(tool: ToolDetails, args: Record<string, unknown>): string {
  const agent = tool.agent === "default" ? "" : ` --agent ${shellQuoted(tool.agent)}`;
  const given = Object.keys(args).length === 0 ? "" : ` ${shellQuoted(JSON.stringify(args))}`;
  return `plugboard call ${shellQuoted(tool.canonical)}${given}${agent}`;
}
