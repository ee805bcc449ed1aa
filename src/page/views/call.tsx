// One call: what the guard did with it and when, and what was said in it, without secrets.

import type { VNode } from "preact";
import type {
  CallContent,
  CallFacts,
  CallStep,
  RedactedText,
} from "../../serve/gateway/page/wire.ts";
import { escapedJsonLines } from "../../util/visible.ts";
import { GatewayError } from "../gateway.ts";
import { useAsked, Waiting } from "../parts/asked.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Result } from "../parts/result.tsx";
import { size } from "../parts/size.ts";
import { Table } from "../parts/table.tsx";
import { Ago, took, waiting } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { agents, calls, isOwner } from "../store.ts";
import { Outcome } from "./activity.tsx";

export function Call({ id }: { id: string }): VNode {
  // Asked again when the call ends.
  const isRunning = calls.value.some((call) => call.id === id && call.ms === undefined);
  const found = useAsked("calls/show", { id }, isRunning ? 1000 : undefined).value;
  const shown = found instanceof GatewayError ? undefined : found;
  return (
    <>
      <p>
        <a href={linkTo("activity")}>All calls</a>
      </p>
      <h1>{shown === undefined ? "A call" : <Foreign text={shown.facts.tool} most={200} />}</h1>
      <Waiting answer={found} />
      {shown && (
        <>
          <Facts call={shown.facts} />
          <Steps steps={shown.steps} ms={shown.facts.ms} />
          {shown.content ? (
            <Content content={shown.content} />
          ) : (
            <p class="quiet">
              {isOwner.value
                ? "Nothing of what was said is kept: the call still runs, it was too large, or no owner had the page open."
                : "The owner sees what was said."}
            </p>
          )}
        </>
      )}
    </>
  );
}

function Facts({ call }: { call: CallFacts }): VNode {
  const { agent, tool, who, command, at, ms, waitedMs, bytes, verdict, rule, server } = call;
  return (
    <dl>
      <dt>Outcome</dt>
      <dd>
        <Outcome call={call} />
      </dd>
      <dt>Made by</dt>
      <dd>
        <Foreign
          text={[who, command].filter(Boolean).join(", command ") || "the agent"}
          most={200}
        />
        {agents.value.size > 1 && ` (agent ${agent})`}
      </dd>
      {verdict && (
        <>
          <dt>Guard</dt>
          <dd>
            {verdict}
            {rule !== undefined && (
              <>
                {" by "}
                <code>
                  <Foreign text={rule} most={300} />
                </code>
              </>
            )}
          </dd>
        </>
      )}
      <dt>When</dt>
      <dd>
        <Ago at={at} />
        {ms !== undefined && `, took ${took(ms)}`}
        {waitedMs !== undefined && `, and ${waiting(waitedMs)}`}
      </dd>
      {bytes !== undefined && (
        <>
          <dt>Answer</dt>
          <dd>{size(bytes)}</dd>
        </>
      )}
      {server !== undefined && (
        <>
          <dt>Server</dt>
          <dd>
            <a href={linkTo("servers", `${agent}/${server}`)}>{server}</a>
          </dd>
          <dt>Tool</dt>
          <dd>
            <a href={linkTo("tools", `${agent}/${tool}`)}>
              <Foreign text={tool} most={200} />
            </a>
          </dd>
        </>
      )}
    </dl>
  );
}

const HALVES = { before: "before", call: "", after: "after" } as const;

function Steps({ steps, ms = 0 }: { steps: readonly CallStep[]; ms?: number }): VNode | null {
  if (steps.length === 0) return null;
  const whole = Math.max(ms, ...steps.map((step) => step.at + step.ms), 0.001);
  const ordered = steps.toSorted((a, b) => a.at - b.at);
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Through the guard</h2>
      <Table
        label="Stages"
        look="steps"
        columns={[
          ["Stage"],
          ["Began", "number"],
          ["Took", "number"],
          [<span class="unseen">As a bar</span>, "wide"],
        ]}
      >
        {ordered.map((step, at) => (
          <tr key={at}>
            <th scope="row">
              {step.stage} <span class="quiet">{HALVES[step.half]}</span>
            </th>
            <td class="number">{fine(step.at)}</td>
            <td class="number">{fine(step.ms)}</td>
            <td class="wide" aria-label={`${fine(step.ms)} of ${fine(whole)}`}>
              <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
                <rect
                  class={step.half === "call" ? "calls" : "guard"}
                  x={(step.at / whole) * 1000}
                  y={0}
                  width={Math.max(4, (step.ms / whole) * 1000)}
                  height={10}
                />
              </svg>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** Stages take fractions of a millisecond. */
function fine(ms: number): string {
  return ms < 10 ? `${ms.toFixed(2)} ms` : took(ms);
}

function Content({ content }: { content: CallContent }): VNode {
  const { args, result, redacted } = content;
  return (
    <>
      <h2>Arguments</h2>
      <Redacted parts={redacted.args} />
      <pre tabIndex={0} aria-label="Arguments">
        <code>{escapedJsonLines(args)}</code>
      </pre>
      <h2>Answer, as the caller got it</h2>
      <Redacted parts={redacted.answer} />
      <Result outcome={result} />
    </>
  );
}

function Redacted({ parts }: { parts: readonly RedactedText[] }): VNode | null {
  if (parts.length === 0) return null;
  return (
    <ul class="rows" aria-label="Secrets that were taken out">
      {parts.map(({ path, sources }) => (
        <li key={path}>
          Taken out of <code>{path}</code>:{" "}
          {sources.map((source, at) => (
            <span key={source}>
              {at > 0 && ", "}
              <code>
                <Foreign text={source} most={200} />
              </code>
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}
