// What the server of a running call asks you, as a form beside the call. The answer goes to this call and to no other.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { CallAnswer, CallQuestion } from "../../serve/gateway/page/wire.ts";
import { Form } from "./form.tsx";
import { answerCall, GatewayError } from "../gateway.ts";
import { Problem } from "../parts/attempt.tsx";
import { Foreign } from "../parts/foreign.tsx";

type Given = Pick<CallAnswer, "action" | "content" | "text">;

const LONGEST_URL = 8192;

interface QuestionProps {
  call: string;
  /** The gateway where the call runs, where there are several. */
  at: string | undefined;
  question: CallQuestion;
}

export function Question({ call, at, question }: QuestionProps): VNode {
  const problem = useSignal<GatewayError | undefined>(undefined);
  const isBusy = useSignal(false);
  const content = useSignal<Record<string, unknown>>({});
  const text = useSignal("");
  const id = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  // It comes in the middle of something: whoever only hears the page is taken to it.
  useEffect(() => heading.current?.focus(), []);
  const give = async (given: Given): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = undefined;
    try {
      await answerCall({ call, question: question.id, ...given }, at);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problem.value = error;
      isBusy.value = false;
    }
  };
  return (
    <section class="question" aria-labelledby={id}>
      <h3 id={id} tabIndex={-1} ref={heading}>
        <Foreign text={question.server} most={100} /> {TITLES[question.kind]}
      </h3>
      {question.kind !== "model" && (
        <blockquote>
          <Foreign text={question.message} />
        </blockquote>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void give({
            action: "accept",
            ...(question.kind === "form" && { content: content.value }),
            ...(question.kind === "model" && { text: text.value }),
          });
        }}
      >
        {question.kind === "form" && hasFields(question.schema) && (
          <>
            <p class="quiet">
              What you write goes to this server. Do not enter passwords or keys here.
            </p>
            <Form
              name="answer"
              schema={question.schema}
              root={question.schema}
              value={content.value}
              onChange={(value) => {
                content.value = { ...(value as Record<string, unknown>) };
              }}
            />
          </>
        )}
        {question.kind === "page" && <PageLink question={question} />}
        {question.kind === "model" && (
          <>
            <Conversation question={question} />
            <div class="field">
              <label for={`${id}-text`}>Your answer, in place of a model's</label>
              <textarea
                id={`${id}-text`}
                rows={4}
                required
                value={text.value}
                onInput={(event) => {
                  text.value = event.currentTarget.value;
                }}
              />
            </div>
          </>
        )}
        <p class="actions">
          <button type="submit" class="primary" aria-disabled={isBusy.value}>
            {question.kind === "page"
              ? question.isRequired
                ? "I have finished"
                : "Agree"
              : "Send"}
          </button>
          <button
            type="button"
            aria-disabled={isBusy.value}
            onClick={() => void give({ action: "decline" })}
          >
            Decline
          </button>
          {problem.value && <Problem error={problem.value} />}
        </p>
      </form>
    </section>
  );
}

const TITLES = {
  form: "asks you",
  page: "asks you to open a page",
  model: "asks for a model",
} as const;

function PageLink({ question }: { question: Extract<CallQuestion, { kind: "page" }> }): VNode {
  const { url, isRequired } = question;
  // The gateway has checked it; a link that a server gives is checked where it is drawn, too.
  const isSafe = /^https?:\/\//i.test(url);
  return (
    <>
      <p>
        {isSafe ? (
          <a href={url} target="_blank" rel="noopener noreferrer" class="address">
            <Foreign text={url} most={LONGEST_URL} />
          </a>
        ) : (
          <Foreign text={url} most={LONGEST_URL} />
        )}
      </p>
      <p class="quiet">
        Read the address before you open it.{" "}
        {isRequired && "The call is made again once you have finished there."}
      </p>
    </>
  );
}

function Conversation({ question }: { question: Extract<CallQuestion, { kind: "model" }> }): VNode {
  const { system, messages, maxTokens } = question;
  return (
    <>
      <dl>
        {system !== undefined && (
          <>
            <dt>system</dt>
            <dd>
              <Foreign text={system} />
            </dd>
          </>
        )}
        {messages.map(({ role, text }, at) => (
          <Message key={at} role={role} text={text} />
        ))}
      </dl>
      <p class="quiet">At most {maxTokens.toLocaleString()} tokens.</p>
    </>
  );
}

function Message({ role, text }: { role: string; text: string }): VNode {
  return (
    <>
      <dt>{role}</dt>
      <dd>
        <Foreign text={text} />
      </dd>
    </>
  );
}

function hasFields({ properties }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof properties === "object" && properties !== null && Object.keys(properties).length > 0
  );
}
