// What the page needs to add a server: what a registry, a bundle, a command line, an address or pasted JSON offers, and
// the change that tries the server and writes it. It is what `plugboard add` does, with a form in place of questions.

import { parseAgentConfig } from "../../core/config/parse.ts";
import { problemMessage } from "../../core/config/issue.ts";
import { serverNameProblem } from "../../core/config/schema/values.ts";
import { withServer, writtenServer } from "../../core/config/server-text.ts";
import { parseText } from "../../core/config/text/document.ts";
import { splitWords } from "../../core/tools/arguments/split-words.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { PlannedChange } from "../../serve/gateway/page/changes.ts";
import type { AddSource, Change, OfferFacts } from "../../serve/gateway/page/wire.ts";
import { capitalised, oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import type { LiveConfig } from "../live-config.ts";
import { readServer, readServerJson } from "../read-server.ts";
import { refuseBoard } from "../servers/add.ts";
import { removeUnusedBundles } from "../servers/bundles.ts";
import { type FoundOffer, fillOffer, readOffer, readOfferSource } from "../servers/offer.ts";
import { openServerFile, type ServerFile } from "../servers/server-file.ts";
import { suspicions } from "../servers/suspicious.ts";
import { promptChange, trialLines, tryServer } from "../servers/trial.ts";
import { TypedSecrets } from "../servers/typed-secrets.ts";
import { stateNotes } from "../status/server-state.ts";
import { typedName } from "../typed/typed-name.ts";
import { planEntryChange } from "./entry-change.ts";
import {
  credentialsApart,
  type PlacedSecret,
  placeSecrets,
  storeAll,
  storedLine,
  withStored,
  withValues,
} from "./entry-secrets.ts";
import type { Uploads } from "./uploads.ts";

type Add = Extract<Change, { kind: "add" }>;

/** What a source offers, before anybody has filled in anything. Rejects with a PlugboardError. */
export async function readSource(source: AddSource, context: CliContext): Promise<OfferFacts[]> {
  if (source.kind !== "offer") {
    return writtenIn(source, context).map(({ name, server }) => {
      const { rest, inputs } = credentialsApart(server);
      return { name, json: JSON.stringify(rest, null, 2), inputs, notes: [] };
    });
  }
  return [offerFacts(await offerOf(source, await openServerFile(undefined, context), context))];
}

export function offerFacts({ offer, lines, others }: FoundOffer): OfferFacts {
  const { name, inputs } = offer;
  return { name, inputs, notes: lines, others };
}

type Written = Exclude<AddSource, { kind: "offer" }>;

function writtenIn(
  source: Written,
  { io }: Pick<CliContext, "io">,
): { name: string; server: JsonObject }[] {
  if (source.kind === "json") return serversIn(source.json);
  const words = source.kind === "url" ? [source.url.trim()] : splitWords(source.line);
  const typed = { name: "new", words, env: [], headers: [] };
  const { server } = readServer(typed);
  return [{ name: typedName(server, io.cwd), server: { ...server } }];
}

/** `{ "mcpServers": { … } }` with one or more, `{ "name": { … } }`, or one server alone. */
function serversIn(json: string): { name: string; server: JsonObject }[] {
  const document = parseText(json);
  const value = document.kind === "document" ? objectIn(document.value) : {};
  const block = value["mcpServers"] ?? value["servers"] ?? value;
  const isServer = (each: unknown): each is JsonObject =>
    isJsonObject(each) && ["command", "url", "serverUrl", "httpUrl"].some((key) => key in each);
  if (isJsonObject(block) && !isServer(block)) {
    const found = Object.entries(block).flatMap(([name, server]) =>
      isServer(server) ? [{ name, server }] : [],
    );
    if (found.length > 0) return found;
  }
  return [{ name: "", server: readServerJson(json) }];
}

async function offerOf(
  { word, way }: Extract<AddSource, { kind: "offer" }>,
  file: ServerFile,
  context: CliContext,
): Promise<FoundOffer> {
  const source = readOfferSource(word.trim());
  if (source === undefined) {
    const message = `'${oneLine(word, 100)}' is neither a server of the registry nor a bundle`;
    throw new PlugboardError("INVALID_ARGUMENTS", message, {
      hint: "a server of the registry has a name such as io.github.owner/server, and a bundle ends in .mcpb",
    });
  }
  return readOffer(
    source,
    { set: [], yes: true, ...(way !== undefined && { way }) },
    file,
    context,
  );
}

export async function planAdd(
  given: Add,
  live: LiveConfig,
  uploads: Uploads,
  context: CliContext,
): Promise<PlannedChange> {
  const { agent, name, check } = given;
  const problem = serverNameProblem(name);
  if (problem !== undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", `the name '${oneLine(name, 100)}' ${problem}`);
  }
  const file = await openServerFile(undefined, context);
  if (writtenServer(file, name) !== undefined) {
    const message = `${visible(file.path)} has a server '${oneLine(name, 100)}' already`;
    throw new PlugboardError("INVALID_ARGUMENTS", message, { hint: "give this one another name" });
  }
  const secrets = await placeSecrets(name, given.secrets, file, context);
  const { server, notes } = await entryOf(given, secrets, file, uploads, context);
  await refuseBoard(name, server, file, context);
  const { warnings } = parseAgentConfig({ servers: { [name]: server } });
  let said: string | undefined;
  const planned = await planEntryChange(
    {
      summary: `add ${oneLine(name)}`,
      agent,
      server: name,
      warnings: [
        ...warnings.map((each) => problemMessage(each)),
        ...notes,
        ...secrets.map(storedLine),
        ...(check ? ["it is started once before it is written, to see whether it answers"] : []),
      ],
      change: (servers) => withServer(servers, name, server),
      basis: secrets.map(({ key, value }) => [key, value]),
      before: async () => {
        if (check) said = await tryFirst(name, withValues(server, secrets), file, context);
        await storeAll(secrets, file, context);
      },
      after: () => removeUnusedBundles(file, context),
    },
    file,
    live,
    context,
  );
  return { ...planned, apply: async () => (await planned.apply()) ?? said };
}

async function entryOf(
  { name, from }: Add,
  secrets: readonly PlacedSecret[],
  file: ServerFile,
  uploads: Uploads,
  context: CliContext,
): Promise<{ server: ServerConfig; notes: string[] }> {
  if (from.kind === "json") {
    const server: ServerConfig = readServerJson(from.json);
    parseAgentConfig({ servers: { [name]: server } });
    const whole = withStored(server, secrets);
    return { server: whole, notes: suspicions(whole) };
  }
  const { offer } =
    from.kind === "upload" ? uploads.find(from.id) : await offerOf(from, file, context);
  const set = [
    ...Object.entries(from.values).flatMap(([key, values]) =>
      values.filter((value) => value !== "").map((value) => `${key}=${value}`),
    ),
    ...secrets.map(({ key, text }) => `${key}=${text}`),
  ];
  const typed = new TypedSecrets(name, file, undefined, context);
  return fillOffer(offer, { set, yes: true }, typed, context);
}

/** Says what it has. Rejects with why it does not answer. */
async function tryFirst(
  name: string,
  server: ServerConfig,
  file: ServerFile,
  context: CliContext,
): Promise<string> {
  const trial = await tryServer(name, server, file, context);
  if (trial.state.kind === "ready") {
    const change = await promptChange(name, trial, file, context);
    const lines = trialLines(name, trial, context);
    return [...lines, ...(change === undefined ? [] : [capitalised(change)])].join(". ");
  }
  if (trial.hasAnswered) return "It asks for a sign-in, which begins in its view";
  const [why = "it does not answer", ...hints] = stateNotes(trial.state, context.options);
  const code = "error" in trial.state ? trial.state.error.code : "SERVER_UNAVAILABLE";
  throw new PlugboardError(code, `${oneLine(name)} was not added: ${why}`, {
    server: name,
    hint: hints.join("\n").replace(/^hint: /, ""),
  });
}
