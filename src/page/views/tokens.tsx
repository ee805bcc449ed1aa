// The tokens of MCP clients: which there are, what each may see, when it was used; new ones, and revoking.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useId } from "preact/hooks";
import type { NewTokenFacts, PageRequests, TokenFacts } from "../../serve/gateway/page/wire.ts";
import { ask } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { Problem, useAttempt } from "../parts/attempt.tsx";
import { Copyable } from "../parts/copy.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";

/** Others make and use tokens too. */
const LOOK_MS = 3000;
const DAY = 86_400_000;
const LIVES = [
  ["until it is revoked", 0],
  ["for a day", DAY],
  ["for 30 days", 30 * DAY],
  ["for 90 days", 90 * DAY],
  ["for a year", 365 * DAY],
] as const;
const APPROVALS = [
  ["as the configuration says", undefined],
  ["before every call", "ask"],
  ["before calls that may destroy something", "destructive"],
] as const;

type Listed = PageRequests["tokens/list"]["gives"];

export function Tokens(): VNode {
  const listed = useSignal<Listed | undefined>(undefined);
  const made = useSignal<NewTokenFacts | undefined>(undefined);
  const isAdding = useSignal(false);
  const look = async (): Promise<void> => {
    const found = await ask("tokens/list", {}).catch(() => undefined);
    if (found !== undefined) listed.value = found;
  };
  useEffect(() => {
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const { tokens = [], agents = [] } = listed.value ?? {};
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Tokens</h2>
      <p class="quiet">
        A client sends a token with every request. Give each client one of its own, so that you can
        tell them apart and revoke one alone.
      </p>
      {made.value && (
        <Made
          made={made.value}
          onLeave={() => {
            made.value = undefined;
          }}
        />
      )}
      {isAdding.value ? (
        <NewToken
          agents={agents}
          onMade={(token) => {
            made.value = token;
            isAdding.value = false;
            void look();
          }}
          onLeave={() => {
            isAdding.value = false;
          }}
        />
      ) : (
        <p>
          <button
            type="button"
            class="primary"
            onClick={() => {
              isAdding.value = true;
            }}
          >
            New token
          </button>
        </p>
      )}
      {tokens.length > 0 && <TokenTable tokens={tokens} onChange={() => void look()} />}
    </section>
  );
}

function TokenTable({
  tokens,
  onChange,
}: {
  tokens: readonly TokenFacts[];
  onChange: () => void;
}): VNode {
  return (
    <Table
      columns={[["Token"], ["Agents"], ["May see and do"], ["Ends"], ["Last used"], ["Revoke"]]}
    >
      {tokens.map((token) => (
        <tr key={token.id}>
          <th scope="row">
            <Foreign text={token.name} most={100} />
          </th>
          <td>{token.agents?.join(", ") ?? "all"}</td>
          <td>
            {token.limits.length === 0 ? (
              "what the configuration allows"
            ) : (
              <Foreign text={token.limits.join(", ")} most={500} />
            )}
          </td>
          <td>{token.expiresAt === undefined ? "–" : <Ago at={token.expiresAt} />}</td>
          <td>{token.lastUsedAt === undefined ? "never" : <Ago at={token.lastUsedAt} />}</td>
          <td>
            <Revoke token={token} onChange={onChange} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Revoke({ token, onChange }: { token: TokenFacts; onChange: () => void }): VNode {
  const isAsked = useSignal(false);
  const { id, name, isDefault } = token;
  if (!isAsked.value) {
    return (
      <button
        type="button"
        class="plain"
        aria-label={`Revoke ${name}`}
        onClick={() => {
          isAsked.value = true;
        }}
      >
        Revoke
      </button>
    );
  }
  return (
    <span role="group" aria-label={`Revoke ${name}?`} class="actions">
      Its client is refused from then on.
      {isDefault && " The gateway makes a new one when it next starts."}{" "}
      <Act
        method="tokens/revoke"
        body={{ id }}
        kind="danger"
        label={`Revoke ${name} now`}
        onDone={onChange}
      >
        Revoke
      </Act>
      <button
        type="button"
        onClick={() => {
          isAsked.value = false;
        }}
      >
        Keep it
      </button>
    </span>
  );
}

function NewToken({
  agents,
  onMade,
  onLeave,
}: {
  agents: readonly string[];
  onMade: (made: NewTokenFacts) => void;
  onLeave: () => void;
}): VNode {
  const id = useId();
  const { problem, run } = useAttempt();
  const make = async (form: FormData): Promise<void> => {
    const text = (key: string): string => {
      const given = form.get(key);
      return typeof given === "string" ? given.trim() : "";
    };
    const lines = (key: string): string[] => text(key).split(/\s+/).filter(Boolean);
    const [allow, deny] = [lines("allow"), lines("deny")];
    const [, approval] = APPROVALS[Number(text("approval"))] ?? APPROVALS[0];
    const expires = Number(text("life"));
    const chosen = form.getAll("agent").filter((each) => typeof each === "string");
    const given = {
      name: text("name"),
      ...(chosen.length > 0 && { agents: chosen }),
      ...(allow.length > 0 && { allow }),
      ...(deny.length > 0 && { deny }),
      ...(approval && { approval }),
      ...(expires > 0 && { expires }),
    };
    await run(async () => onMade(await ask("tokens/add", given)));
  };
  return (
    <form
      class="question"
      aria-label="New token"
      onSubmit={(event) => {
        event.preventDefault();
        void make(new FormData(event.currentTarget));
      }}
    >
      <div class="field">
        <label for={`${id}-name`}>Name</label>
        <small id={`${id}-name-hint`}>Who will use it, such as ci or ann@laptop.</small>
        <input
          id={`${id}-name`}
          name="name"
          required
          maxLength={64}
          autocomplete="off"
          aria-describedby={`${id}-name-hint`}
        />
      </div>
      {agents.length > 1 && (
        <fieldset>
          <legend>Agents</legend>
          <small>None chosen means every agent.</small>
          {agents.map((agent) => (
            <label key={agent} class="choice">
              <input type="checkbox" name="agent" value={agent} /> {agent}
            </label>
          ))}
        </fieldset>
      )}
      {(["allow", "deny"] as const).map((key) => (
        <div class="field" key={key}>
          <label for={`${id}-${key}`}>
            {key === "allow" ? "Only what matches" : "Nothing that matches"}
          </label>
          <small id={`${id}-${key}-hint`}>
            {key === "allow"
              ? "Patterns such as files/read_*, files/* or @readOnly, one a line. Empty: everything."
              : "Patterns, one a line."}
          </small>
          <textarea
            id={`${id}-${key}`}
            name={key}
            rows={2}
            spellcheck={false}
            aria-describedby={`${id}-${key}-hint`}
          />
        </div>
      ))}
      <div class="field">
        <label for={`${id}-approval`}>Asks you</label>
        <select id={`${id}-approval`} name="approval">
          {APPROVALS.map(([word], at) => (
            <option key={word} value={at}>
              {word}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-life`}>Valid</label>
        <select id={`${id}-life`} name="life">
          {LIVES.map(([word, ms]) => (
            <option key={word} value={ms}>
              {word}
            </option>
          ))}
        </select>
      </div>
      <p class="actions">
        <button type="submit" class="primary">
          Make it
        </button>
        <button type="button" onClick={onLeave}>
          Cancel
        </button>
        {problem.value && <Problem error={problem.value} />}
      </p>
    </form>
  );
}

function Made({ made, onLeave }: { made: NewTokenFacts; onLeave: () => void }): VNode {
  const { token, text, url, entries, unseen } = made;
  return (
    <section class="question" aria-label={`The new token ${token.name}`}>
      <h3>
        <Foreign text={token.name} most={100} />: shown only now
      </h3>
      <Copyable text={text} label="Token" />
      {unseen !== undefined && <p class="quiet">It sees no {unseen}.</p>}
      <h3>For somebody else</h3>
      <p class="quiet">Send the address. It does not hold the token: send that another way.</p>
      <Copyable text={url} label="Address" />
      <h3>In a client</h3>
      <p class="quiet">These hold the token.</p>
      {entries.map(({ client, lines }) => (
        <details key={client}>
          <summary>{client}</summary>
          <Copyable text={lines.join("\n")} label={client} />
        </details>
      ))}
      <p class="actions">
        <button type="button" onClick={onLeave}>
          I have it
        </button>
      </p>
    </section>
  );
}
