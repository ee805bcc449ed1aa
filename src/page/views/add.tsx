// Add a server: find it, fill in what it needs, see what would be started, try it, and have it written.

import { type Signal, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useId } from "preact/hooks";
import {
  type AddInput,
  type AddSource,
  type Change,
  MOST_UPLOAD,
  type OfferFacts,
  type RegistryServer,
} from "../../serve/gateway/page/wire.ts";
import { Form } from "../form/form.tsx";
import { SecretFields } from "../form/secret-fields.tsx";
import { ask, GatewayError, upload } from "../gateway.ts";
import { newAttempt, Problem } from "../parts/attempt.tsx";
import { ChangeButton } from "../parts/change.tsx";
import { Foreign } from "../parts/foreign.tsx";
import { size } from "../parts/size.ts";
import { linkTo } from "../route.ts";
import { agents, isOwner } from "../store.ts";

const WAYS = {
  registry: [
    "Registry",
    "What it should do, or its name",
    "such as: files, or io.github.owner/server",
  ],
  command: ["Command", "The command that starts it", "such as: npx -y some-mcp-server --flag"],
  url: ["Address", "Its address", "such as: https://example.com/mcp"],
  json: ["JSON", "As its documentation shows it", '{ "mcpServers": { "name": { … } } }'],
  bundle: [
    "Bundle",
    "The path of an .mcpb file where the gateway runs, or its address",
    "/home/me/server.mcpb",
  ],
} as const;

type Way = keyof typeof WAYS;

const way = signal<Way>("command");
/** What was typed in each way: it may be a secret, and is for no other. */
const typed = signal<Partial<Record<Way, string>>>({});
const found = signal<RegistryServer[] | undefined>(undefined);
/** Where the offers are from. */
type Source = AddSource | { kind: "upload"; id: string };

const source = signal<Source | undefined>(undefined);
const offers = signal<readonly OfferFacts[]>([]);
const { isBusy, problem, run } = newAttempt();
const added = signal<{ name: string; said: string | undefined } | undefined>(undefined);

function attempt(task: () => Promise<void>): Promise<void> {
  added.value = undefined;
  return run(task);
}

function read(from: AddSource): Promise<void> {
  return attempt(async () => {
    offers.value = [];
    const answer = await ask("add/read", { source: from });
    source.value = from;
    offers.value = answer.offers;
  });
}

function sendFile(file: File): Promise<void> {
  return attempt(async () => {
    offers.value = [];
    if (file.size > MOST_UPLOAD) {
      const message = `${file.name} is larger than ${size(MOST_UPLOAD)}`;
      throw new GatewayError({ code: "MESSAGE_TOO_LARGE", message });
    }
    const sent = await upload(file);
    source.value = { kind: "upload", id: sent.id };
    offers.value = sent.offers;
  });
}

function go(): Promise<void> {
  const text = typed.value[way.value] ?? "";
  switch (way.value) {
    case "registry":
      return attempt(async () => {
        offers.value = [];
        found.value = (await ask("add/search", { words: text })).servers;
      });
    case "command":
      return read({ kind: "command", line: text });
    case "url":
      return read({ kind: "url", url: text });
    case "json":
      return read({ kind: "json", json: text });
    case "bundle":
      return read({ kind: "offer", word: text });
  }
}

export function Add(): VNode {
  const id = useId();
  const [, label, example] = WAYS[way.value];
  const isLong = way.value === "json";
  const text = typed.value[way.value] ?? "";
  const take = (next: string): void => {
    typed.value = { ...typed.value, [way.value]: next };
  };
  if (!isOwner.value) {
    return (
      <>
        <h1>Add a server</h1>
        <p class="quiet">Only the owner can add one.</p>
      </>
    );
  }
  return (
    <>
      <h1>Add a server</h1>
      <div class="modes" role="group" aria-label="What you have">
        {(Object.keys(WAYS) as Way[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={way.value === each}
            onClick={() => {
              way.value = each;
              offers.value = [];
              found.value = undefined;
              problem.value = undefined;
            }}
          >
            {WAYS[each][0]}
          </button>
        ))}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void go();
        }}
      >
        <div class="field">
          <label for={id}>{label}</label>
          {isLong ? (
            <textarea
              id={id}
              class="json"
              rows={8}
              spellcheck={false}
              placeholder={example}
              value={text}
              onInput={(event) => take(event.currentTarget.value)}
            />
          ) : (
            <input
              id={id}
              required
              autocomplete="off"
              placeholder={example}
              value={text}
              onInput={(event) => take(event.currentTarget.value)}
            />
          )}
        </div>
        <p class="actions">
          <button type="submit" class="primary" aria-disabled={isBusy.value}>
            {way.value === "registry" ? "Search" : "Go on"}
          </button>
        </p>
      </form>
      {way.value === "bundle" && <FileChooser />}
      {problem.value && <Problem error={problem.value} />}
      {added.value && (
        <p role="status">
          It is written. {added.value.said && <Foreign text={`${added.value.said}.`} />}{" "}
          <a href={linkTo("servers", added.value.name)}>Look at it</a>
        </p>
      )}
      {way.value === "registry" && found.value && offers.value.length === 0 && (
        <Found servers={found.value} />
      )}
      {offers.value.map((offer) => (
        <Offer key={`${offer.name} ${offer.json ?? ""}`} offer={offer} />
      ))}
    </>
  );
}

/** A file of the machine that the browser is on. */
function FileChooser(): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Or choose a file of this machine: it is sent to the gateway</label>
      <input
        id={id}
        type="file"
        accept=".mcpb,.dxt"
        disabled={isBusy.value}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) void sendFile(file);
        }}
      />
    </div>
  );
}

function Found({ servers }: { servers: readonly RegistryServer[] }): VNode {
  if (servers.length === 0) return <p>Nothing was found. Try fewer words.</p>;
  return (
    <ul class="rows">
      {servers.map(({ name, title, version, description, isDeprecated, runsAs }) => (
        <li key={name}>
          <button
            type="button"
            class="plain"
            onClick={() => void read({ kind: "offer", word: name })}
          >
            <Foreign text={title ?? name} most={100} />
          </button>{" "}
          {isDeprecated && <strong>deprecated </strong>}
          <small>
            <Foreign
              text={`${title === undefined ? "" : `${name} `}${version}, ${runsAs.length === 0 ? "which says neither package nor address" : `as ${runsAs.join(", ")}`}`}
              most={300}
            />
          </small>
          <Foreign text={description} most={300} />
        </li>
      ))}
    </ul>
  );
}

/** What was typed about one offer. Nothing of it is for another server: a secret least of all. */
interface Typed {
  agent: Signal<string>;
  name: Signal<string>;
  json: Signal<string>;
  inputs: Signal<Record<string, unknown>>;
  secrets: Signal<Record<string, string>>;
  newSecret: Signal<string>;
  failure: Signal<GatewayError | undefined>;
}

const typedOf = new WeakMap<OfferFacts, Typed>();

/** It stays while the offer is there, also when another view is looked at. */
function typedAbout(offer: OfferFacts): Typed {
  const known = typedOf.get(offer);
  if (known !== undefined) return known;
  const given = offer.inputs.filter(({ isSecret }) => isSecret);
  const about: Typed = {
    agent: signal(""),
    name: signal(offer.name),
    json: signal(offer.json ?? ""),
    inputs: signal({}),
    secrets: signal(
      Object.fromEntries(given.map(({ key, ...input }) => [key, input.default ?? ""])),
    ),
    newSecret: signal(""),
    failure: signal(undefined),
  };
  typedOf.set(offer, about);
  return about;
}

function Offer({ offer }: { offer: OfferFacts }): VNode {
  const id = useId();
  const about = typedAbout(offer);
  const { name, json, inputs: entered, failure } = about;
  const ids = [...agents.value.keys()];
  const agent = ids.includes(about.agent.value) ? about.agent.value : (ids[0] ?? "default");
  const from = source.value;
  const plain = offer.inputs.filter(({ isSecret }) => !isSecret);
  const secret = offer.inputs.filter(({ isSecret }) => isSecret);
  const change = (check: boolean): Change => ({
    kind: "add",
    agent,
    name: name.value.trim(),
    from:
      from?.kind === "offer" || from?.kind === "upload"
        ? { ...from, values: valuesOf(entered.value) }
        : { kind: "json", json: json.value },
    secrets: about.secrets.value,
    check,
  });
  const done = (said: string | undefined): void => {
    added.value = { name: `${agent}/${name.value.trim()}`, said };
    offers.value = offers.value.filter((each) => each !== offer);
    if (offers.value.length === 0) typed.value = {};
  };
  return (
    <article class="question" aria-label={name.value || "New server"}>
      {offer.notes.map((note) => (
        <p key={note}>
          <Foreign text={note} />
        </p>
      ))}
      {from?.kind === "offer" && <OtherWays others={offer.others ?? []} word={from.word} />}
      {ids.length > 1 && (
        <div class="field">
          <label for={`${id}-agent`}>The agent that gets it</label>
          <select
            id={`${id}-agent`}
            value={agent}
            onChange={(event) => {
              about.agent.value = event.currentTarget.value;
            }}
          >
            {ids.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <label for={`${id}-name`}>Its name here</label>
        <input
          id={`${id}-name`}
          required
          autocomplete="off"
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </div>
      {offer.json !== undefined && (
        <div class="field wide">
          <label for={`${id}-entry`}>What is written</label>
          <textarea
            id={`${id}-entry`}
            class="json"
            rows={Math.min(20, json.value.split("\n").length + 1)}
            spellcheck={false}
            value={json.value}
            onInput={(event) => {
              json.value = event.currentTarget.value;
            }}
          />
        </div>
      )}
      {plain.length > 0 && (
        <Form
          name="inputs"
          schema={schemaOf(plain)}
          root={{}}
          value={entered.value}
          onChange={(value) => {
            entered.value = { ...(value as object) };
          }}
        />
      )}
      <SecretFields
        inputs={secret}
        {...(offer.json !== undefined && { kind: isRemote(json.value) ? "header" : "variable" })}
        values={about.secrets}
        newName={about.newSecret}
      />
      {failure.value && (
        <div class="why">
          <Problem error={failure.value} />
          <p>Change what is above and try again, or add it as it is and mend it later.</p>
        </div>
      )}
      <p class="actions">
        <ChangeButton
          kind="primary"
          confirm="Try it and add it"
          change={() => change(true)}
          onDone={done}
          onFailed={(error) => {
            failure.value = error;
          }}
        >
          Add…
        </ChangeButton>
        {failure.value && (
          <ChangeButton confirm="Add it untried" change={() => change(false)} onDone={done}>
            Add it all the same…
          </ChangeButton>
        )}
      </p>
    </article>
  );
}

interface OtherWaysProps {
  others: NonNullable<OfferFacts["others"]>;
  word: string;
}

function OtherWays({ others, word }: OtherWaysProps): VNode | null {
  if (others.length === 0) return null;
  return (
    <details>
      <summary>Other ways to run it</summary>
      <ul class="rows">
        {others.map(({ id, about }) => (
          <li key={id}>
            <button
              type="button"
              class="plain"
              onClick={() => void read({ kind: "offer", word, way: id })}
            >
              <Foreign text={about} most={300} />
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A server that is reached by its address gets headers, and one that is started gets variables. */
function isRemote(json: string): boolean {
  return /"(?:url|serverUrl|httpUrl)"\s*:/.test(json);
}

/** The inputs of an offer as the schema of a form. */
function schemaOf(inputs: readonly AddInput[]): Record<string, unknown> {
  const properties = inputs.map(({ key, description, format, choices, isMultiple, ...input }) => {
    const type = format === "number" || format === "boolean" ? format : "string";
    const value = {
      type,
      ...(choices !== undefined && { enum: choices }),
      ...(input.default !== undefined && { default: input.default }),
    };
    const example = input.placeholder === undefined ? "" : ` (for example ${input.placeholder})`;
    const about = { description: `${description ?? ""}${example}` };
    return [key, isMultiple ? { ...about, type: "array", items: value } : { ...about, ...value }];
  });
  const required = inputs.filter((each) => each.isRequired && each.default === undefined);
  return {
    type: "object",
    properties: Object.fromEntries(properties) as object,
    required: required.map(({ key }) => key),
  };
}

function valuesOf(given: Record<string, unknown>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      (Array.isArray(value) ? value : [value]).map(String),
    ]),
  );
}
