// Parts of the page of one server that change while you look: its past states, what it takes, its tools, and what it
// writes.

import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { PageRequests } from "../../serve/gateway/page/wire.ts";
import { GatewayError } from "../gateway.ts";
import { useAsked } from "../parts/asked.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { size } from "../parts/size.ts";
import { State } from "../parts/state.tsx";
import { Ago } from "../parts/time.tsx";
import { linkTo } from "../route.ts";
import { isOwner, lines } from "../store.ts";

const EVERY_MS = 3000;
const MOST_LINES = 300;

interface Named {
  agent: string;
  server: string;
}

interface Offering extends Named {
  /** How many tools it has, and what they take of a prompt: another figure, another list. */
  offers: string;
}

type Details = PageRequests["servers/show"]["gives"];

/** Everything that is asked for, below what every server has. */
export function ServerParts({ agent, server, offers }: Offering): VNode {
  const found = useAsked("servers/show", { agent, server }, EVERY_MS).value;
  const details = found instanceof GatewayError ? undefined : found;
  return (
    <>
      {details && <Identity details={details} />}
      {details && <History past={details.past} />}
      <Tools key={offers} agent={agent} server={server} />
      {isOwner.value && <Written server={server} />}
    </>
  );
}

function Identity({ details }: { details: Details }): VNode {
  const { memory, identity, instructions, notes = [] } = details;
  return (
    <>
      <dl>
        {identity && (
          <>
            <dt>It calls itself</dt>
            <dd>
              <Foreign
                text={[identity.name, identity.version].filter(Boolean).join(" ") || "nothing"}
                most={200}
              />
              , {identity.era} protocol {identity.protocolVersion}
            </dd>
            <dt>It says it can</dt>
            <dd>{abilitiesOf(identity.capabilities)}</dd>
          </>
        )}
        {memory !== undefined && (
          <>
            <dt>Memory</dt>
            <dd>{size(memory)}, with all that it has started</dd>
          </>
        )}
      </dl>
      {notes.length > 0 && (
        <ul class="rows" aria-label="Notes">
          {notes.map((note) => (
            <li key={note}>
              <Foreign text={note} most={500} />
            </li>
          ))}
        </ul>
      )}
      {instructions !== undefined && (
        <details>
          <summary>What it tells models about itself</summary>
          <blockquote>
            <Foreign text={instructions} most={20_000} />
          </blockquote>
        </details>
      )}
    </>
  );
}

const ABILITIES: ReadonlyMap<string, string> = new Map([
  ["tools", "offer tools"],
  ["tools.listChanged", "tell when its tools change"],
  ["resources", "offer resources"],
  ["resources.listChanged", "tell when its list of resources changes"],
  ["resources.subscribe", "tell when a resource changes"],
  ["prompts", "offer prompts"],
  ["prompts.listChanged", "tell when its prompts change"],
  ["completions", "complete arguments"],
  ["logging", "send log messages"],
]);

function abilitiesOf(capabilities: readonly string[]): string {
  const words = capabilities.flatMap((each) => ABILITIES.get(each) ?? []);
  return words.length === 0 ? "nothing" : words.join(", ");
}

function History({ past }: { past: Details["past"] }): VNode | null {
  if (past.length === 0) return null;
  return (
    <section aria-labelledby="past">
      <h2 id="past">Its states</h2>
      <ol class="rows past" aria-label="States, the latest first" tabIndex={0}>
        {past.toReversed().map(({ at, state, why }, index) => (
          <li key={`${at} ${index}`}>
            <State state={state} /> <Ago at={at} />
            {why !== undefined && (
              <small>
                <Foreign text={why} most={500} />
              </small>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Tools({ agent, server }: Named): VNode | null {
  const found = useAsked("tools/list", { agent, server }).value;
  if (found === undefined || found instanceof GatewayError || found.total === 0) return null;
  const shown = found.tools;
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">Its tools</h2>
      <ul class="rows columns">
        {shown.map((tool) => (
          <li key={tool.name}>
            <a href={linkTo("tools", `${agent}/${tool.canonical}`)}>
              <Foreign text={tool.canonical.slice(server.length + 1)} most={120} />
            </a>{" "}
            <span class="quiet">{tool.tokens.toLocaleString()} tokens</span>
          </li>
        ))}
      </ul>
      {found.total > shown.length && (
        <p class="quiet">
          {found.total - shown.length} more: <a href={linkTo("tools")}>all tools</a>
        </p>
      )}
    </section>
  );
}

function Written({ server }: { server: string }): VNode {
  const own = lines.value.filter((line) => line.server === server).slice(-MOST_LINES);
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  // New lines come at the end, as in a terminal. Whoever has scrolled back stays where they are.
  useLayoutEffect(() => {
    if (list.current !== null && isAtEnd.current)
      list.current.scrollTop = list.current.scrollHeight;
  });
  return (
    <section aria-labelledby="written">
      <h2 id="written">What it writes</h2>
      {own.length === 0 ? (
        <p class="quiet">Nothing yet, to stderr or as log messages.</p>
      ) : (
        <ol
          ref={list}
          class="written"
          aria-label="Lines, the latest last"
          tabIndex={0}
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 4;
          }}
        >
          {own.map(({ at, level, text }, index) => (
            <li key={`${at} ${index}`} class={level}>
              <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>{" "}
              <Foreign text={text} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
