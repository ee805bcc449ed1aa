// `plugboard add` and `plugboard add-json`: shows what would be added, asks, connects to it, and writes it. What it is
// may be typed, or looked up in the MCP registry, or in a bundle.

import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { loadGateway } from "../../core/config/gateway.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { isBoard, portOf } from "../../core/config/own-server.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { formatPath, problemMessage } from "../../core/config/issue.ts";
import { serverNameProblem } from "../../core/config/schema/values.ts";
import { type ServerText, withServer, writtenServer } from "../../core/config/server-text.ts";
import { addressRules } from "../../core/net/policy.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { ServerOffer } from "../../core/types/server-offer.ts";
import { gatewayUrls } from "../../core/state/running-gateway.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { oneLine, shellQuoted } from "../../util/text.ts";
import { escapedJsonLines, visible, visibleCommand } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { wantsSignIn } from "../status/server-state.ts";
import { askHidden, askYesNo, canAsk, notWanted, requireYes } from "../terminal/input.ts";
import { needsTrust } from "../trust/needs-trust.ts";
import { serverLines } from "../trust/view.ts";
import { urlMeantByName } from "../typed/mistyped.ts";
import { typedName } from "../typed/typed-name.ts";
import { exceptionOptions, exceptionsIn, isHttp } from "../typed-server.ts";
import type { AddRequest, AddJsonRequest, ClientChoice } from "./command.ts";
import { readServer, readServerJson } from "../read-server.ts";
import { removeUnusedBundles } from "./bundles.ts";
import { diffLines } from "./diff-lines.ts";
import { fillOffer, type OfferSource, readOffer, readOfferSource, otherWayLines } from "./offer.ts";
import {
  changeServerFile,
  commandFor,
  openServerFile,
  type ServerFile,
  untrustedLines,
} from "./server-file.ts";
import {
  doesNotAnswer,
  promptChange,
  type Trial,
  trialJson,
  trialLines,
  tryServer,
} from "./trial.ts";
import { suspicions } from "./suspicious.ts";
import { TypedSecrets } from "./typed-secrets.ts";

type Command = AddRequest | AddJsonRequest;

export async function runAdd(command: Command, context: CliContext): Promise<number> {
  if (command.kind === "add") refuseMistyped(command, context);
  const offered = command.kind === "add" ? offeredBy(command, context) : undefined;
  if (offered !== undefined) return addOffered(offered, context);
  const { name, server } =
    command.kind === "add"
      ? readServer(command)
      : { name: command.name, server: readServerJson(command.json) };
  // Mistakes in the server are reported before the file is opened.
  parseAgentConfig({ servers: { [name]: server } });
  if (command.kind === "add") refuseClient(command, server);
  const file = await openServerFile(command.scope, context);
  const secrets = new TypedSecrets(name, file, undefined, context);
  const given =
    command.kind === "add" ? await withClient(server, command, secrets, context) : server;
  const isTyped = command.kind === "add";
  return addServer(
    { name, server: given, notes: [], unset: [], secrets, isTyped },
    file,
    command,
    context,
  );
}

/** Throws INVALID_ARGUMENTS for what is about a client of OAuth where there is none. */
function refuseClient(
  { clientId, clientSecret, callbackPort }: ClientChoice,
  { url }: ServerConfig,
): void {
  const given = [
    ...(clientId === undefined ? [] : ["--client-id"]),
    ...(clientSecret ? ["--client-secret"] : []),
    ...(callbackPort === undefined ? [] : ["--callback-port"]),
  ];
  if (given.length > 0 && url === undefined) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      `${given.join(" and ")} is for a URL, and this is a command`,
      { hint: "leave it out" },
    );
  }
  if (clientSecret && clientId === undefined) {
    throw new PlugboardError("INVALID_ARGUMENTS", "--client-secret needs --client-id", {
      hint: "give the id of the client that the secret belongs to",
    });
  }
}

/** The file gets a reference to the client's secret. */
async function withClient(
  server: ServerConfig,
  { clientId, clientSecret, callbackPort }: ClientChoice,
  secrets: TypedSecrets,
  context: CliContext,
): Promise<ServerConfig> {
  if (clientId === undefined && callbackPort === undefined) return server;
  const secret = clientSecret ? await clientSecretOf(context) : undefined;
  if (secret !== undefined && (await secrets.where()) === undefined) {
    throw new PlugboardError(
      "SECRET_UNAVAILABLE",
      "there is no place for the client's secret, so nothing was added",
      { hint: "to see the stores of secrets: plugboard secrets --help" },
    );
  }
  const oauth = {
    ...(clientId !== undefined && { clientId }),
    ...(secret !== undefined && { clientSecret: await secrets.take("client-secret", secret) }),
    // As Claude Code has it, so that a client that is registered for one is registered for both.
    ...(callbackPort !== undefined && { redirectUri: `http://localhost:${callbackPort}/callback` }),
  };
  return { ...server, oauth };
}

async function clientSecretOf(context: CliContext): Promise<string> {
  const given = context.io.env["MCP_CLIENT_SECRET"];
  if (given) return given;
  if (!canAsk(context)) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      "cannot ask for the client's secret, because this is not a terminal",
      { hint: "set MCP_CLIENT_SECRET" },
    );
  }
  const typed = (await askHidden("The client's secret (not shown) > ", context)).trim();
  if (typed !== "") return typed;
  throw new PlugboardError("INVALID_ARGUMENTS", "no secret was typed; nothing has changed");
}

/** What would be taken for something else than was meant. Throws INVALID_ARGUMENTS. */
function refuseMistyped({ name, words }: AddRequest, { argv, io }: CliContext): void {
  const wrong = (message: string, line: string, why = ""): PlugboardError =>
    new PlugboardError("INVALID_ARGUMENTS", message, {
      hint: `${why}to add it: plugboard add ${line}`,
    });
  const end = argv.indexOf("--");
  const behind = end === -1 ? [] : argv.slice(end + 1);
  if (behind.length > words.length) {
    const line = ["<name>", "--", ...behind.map(shellQuoted)].join(" ");
    throw wrong("there is no name before --", line);
  }
  if (words.length > 1 || end !== -1) return;
  const target = words[0] ?? name;
  const url = urlMeantByName(target);
  const isBundle = readOfferSource(target)?.kind === "bundle";
  if (isBundle || (url === undefined && (words.length === 1 || !isHttp(target)))) return;
  const meant = url ?? target;
  const called = words.length === 1 ? name : typedName({ url: meant }, io.cwd);
  const line = `${shellQuoted(called)} ${shellQuoted(meant)}`;
  throw url === undefined
    ? wrong("the server has no name", line)
    : wrong(
        `'${oneLine(target, 100)}' is not a URL`,
        line,
        "a URL begins with https:// or http://; ",
      );
}

interface NewServer {
  name: string;
  server: ServerConfig;
  /** What else to show before somebody agrees. */
  notes: string[];
  /** Variables that it needs, and that are not set here. */
  unset: string[];
  /** The secrets that the person typed for the server. They are stored once the person has agreed. */
  secrets: TypedSecrets;
  /** The person typed the command or the URL. */
  isTyped?: boolean;
}

async function addServer(
  { name, server, secrets, ...told }: NewServer,
  file: ServerFile,
  command: Command,
  context: CliContext,
): Promise<number> {
  await refuseBoard(name, server, file, context);
  const { warnings } = parseAgentConfig({ servers: { [name]: server } });
  const existing = writtenServer(file, name);
  const isSame = existing !== undefined && canonicalJson(existing) === canonicalJson(server);
  // A value that was typed may be another one than before, under the same reference.
  if (isSame && secrets.isEmpty) {
    return report({ name, server, file, isNew: false }, context);
  }
  if (existing !== undefined && !command.force)
    throw await exists(name, existing, server, file, context);
  const { screen } = context;
  const remarks = [
    ...warnings.map((each) => `warning: ${keyOf(each.path, name)} ${problemMessage(each)}`),
    ...credentialNotes(name, server),
    ...(told.isTyped ? suspicions(server) : []),
    ...told.notes,
  ];
  // What you type for yourself is what you want, unless there is something to look at first.
  const isOwn = file.source.from === "home" && !needsTrust(file.source, context.io);
  const isPlain =
    told.isTyped === true &&
    existing === undefined &&
    isOwn &&
    remarks.length === 0 &&
    canAsk(context);
  const path = visible(file.path);
  const heading =
    existing === undefined
      ? isPlain || command.yes
        ? `Adding to ${path}:`
        : `This would be added to ${path}:`
      : `This would replace what is in ${path}:`;
  for (const line of [heading, ...serverLines(name, server), ...remarks]) screen.note(line);
  const agree = async (): Promise<void> => {
    if (!isPlain) await requireYes("Add it?", { yes: command.yes, what: "add it" }, context);
  };
  const tryAndWrite = async (): Promise<number> => {
    const isTried = command.check && told.unset.length === 0;
    const tried = isTried
      ? await tryUntilComplete({ name, server, secrets }, file, command, context)
      : undefined;
    const { trial, server: complete } = tried ?? { server };
    if (trial !== undefined) {
      showTrial(name, trial, context);
      await requireAnswer(name, complete, trial, command, context);
      const change = await promptChange(name, trial, file, context);
      if (change !== undefined) screen.note(change);
    } else if (command.check) screen.note(untried(name, told.unset));
    const change = (servers: ServerText): string => withServer(servers, name, complete);
    const about = { names: [name], what: `add ${oneLine(name, 100)}` };
    const isTrusted = await changeServerFile(file, change, about, context);
    const code = report({ name, server: complete, file, isNew: true, trial, isTrusted }, context);
    const mayAsk = !command.yes && isTrusted && !context.options.json && canAsk(context);
    if (trial === undefined || !wantsSignIn(trial.state) || !mayAsk) return code;
    if (!(await askYesNo(`Sign in to ${oneLine(name)} now?`, context, "yes"))) return code;
    const { runLogin } = await import("../login/login.ts");
    return runLogin({ server: name, browser: true }, context);
  };
  return secrets.onceAgreed(agree, tryAndWrite);
}

/** So often a server may name something more that it needs. */
const MOST_ROUNDS = 3;

/** Tries the server, and asks for what it says it lacks, as long as the person has an answer. */
async function tryUntilComplete(
  { name, server: first, secrets }: Pick<NewServer, "name" | "server" | "secrets">,
  file: ServerFile,
  { yes }: Command,
  context: CliContext,
): Promise<{ trial: Trial; server: ServerConfig }> {
  let server = first;
  let trial = await tryServer(name, server, file, context);
  const rounds = !yes && canAsk(context) ? MOST_ROUNDS : 0;
  for (let round = 0; round < rounds; round += 1) {
    const missing = missingIn(trial, server);
    const where = missing.length === 0 ? undefined : await secrets.where();
    if (where === undefined) break;
    // What it lacks is asked for next, so the hint to set it would only be in the way.
    showTrial(name, trial, context, 1);
    const env = { ...first.env, ...server.env };
    for (const key of missing) {
      const value = await askFor({ key, name, server, where }, context);
      if (value !== "") env[key] = await secrets.take(key, value);
    }
    if (missing.every((key) => !Object.hasOwn(env, key))) break;
    server = { ...first, env };
    // The trial reads them from where they are stored.
    trial = await secrets.onceAgreed(
      async () => {},
      () => tryServer(name, server, file, context),
    );
  }
  return { trial, server };
}

/** The variables that a program says it lacks, and that it has not been given. */
function missingIn({ state }: Trial, { url, env = {} }: ServerConfig): string[] {
  const isFailed = state.kind === "failed" || state.kind === "backoff";
  if (!isFailed || url !== undefined) return [];
  return state.error.lacks.filter((key) => !Object.hasOwn(env, key));
}

/** The names are the server's words, so a person reads who asks and who will get the value. */
async function askFor(
  { key, name, server, where }: { key: string; name: string; server: ServerConfig; where: string },
  context: CliContext,
): Promise<string> {
  const { screen } = context;
  const command = visibleCommand([server.command ?? "", ...(server.args ?? [])]);
  screen.note(`${oneLine(name)} (${command}) asks for ${key}.`);
  screen.note(
    `What you type is stored in ${where}, and ${oneLine(name)} gets it whenever it starts.`,
  );
  return (await askHidden(`${key} (not shown; Enter alone to type none) > `, context)).trim();
}

/** A board among its own servers would start or ask itself without end. Throws INVALID_ARGUMENTS. */
export async function refuseBoard(
  name: string,
  server: ServerConfig,
  { path, original }: ServerFile,
  { io }: CliContext,
): Promise<void> {
  const { env, cwd, homedir } = io;
  const running = gatewayUrls(plugboardHome(env, homedir)).map(portOf);
  const configured =
    original.text === undefined ? [] : [(await loadGateway(path, { cwd, homedir })).settings.port];
  if (!isBoard(server, { ports: [...running, ...configured] })) return;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(name, 100)}' is Plugboard itself, and a board cannot be one of its own servers`,
    { server: name, hint: "to use the board in another application: plugboard connect" },
  );
}

function untried(name: string, unset: readonly string[]): string {
  const variables = unset.length === 1 ? `${unset[0]} is` : `${unset.join(" and ")} are`;
  return `${oneLine(name)} was not tried, because ${variables} not set here`;
}

// A server that somebody publishes

interface OfferedServer {
  source: OfferSource;
  command: AddRequest;
  /** What the person calls it. */
  name?: string;
}

/** Undefined for a command or a URL. What comes after `--` is a command, whatever it looks like. */
function offeredBy(command: AddRequest, { argv }: CliContext): OfferedServer | undefined {
  const { name, words, env, headers, transport, set, way, registry, secrets } = command;
  const typed = words.length === 0 ? name : words.length === 1 ? words[0] : undefined;
  const source = typed === undefined || argv.includes("--") ? undefined : readOfferSource(typed);
  if (source === undefined) {
    const isMeant = [way, registry, secrets, set[0]].some((each) => each !== undefined);
    if (!isMeant) return undefined;
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      "--set, --package, --remote, --registry and --secrets are for a server of the MCP registry or a bundle",
      { hint: "name it, as in: plugboard add io.github.owner/server" },
    );
  }
  const { clientId, clientSecret, callbackPort } = command;
  const isClient = clientId !== undefined || clientSecret || callbackPort !== undefined;
  if (env.length > 0 || headers.length > 0 || transport !== undefined || isClient) {
    throw new PlugboardError(
      "INVALID_ARGUMENTS",
      "-e, -H, -t and the options of a client are for a command or a URL, and this one says itself what it needs",
      { hint: "give its values with --set KEY=value" },
    );
  }
  return { source, command, ...(words.length === 1 && { name }) };
}

async function addOffered(
  { source, command, name: given }: OfferedServer,
  context: CliContext,
): Promise<number> {
  if (given !== undefined) requireName(given);
  const file = await openServerFile(command.scope, context);
  try {
    const found = await readOffer(source, command, file, context);
    const { offer, lines } = found;
    const name = given ?? offer.name;
    requireNew(name, offer, file, command, context);
    for (const line of [...lines, ...otherWayLines(found)]) context.screen.note(line);
    const secrets = new TypedSecrets(name, file, command.secrets, context);
    const filled = await fillOffer(offer, command, secrets, context);
    return await addServer({ name, ...filled, secrets }, file, command, context);
  } finally {
    await removeUnusedBundles(file, context);
  }
}

function requireName(name: string): void {
  const problem = serverNameProblem(name);
  if (problem === undefined) return;
  throw new PlugboardError("INVALID_ARGUMENTS", `the server '${oneLine(name, 100)}' ${problem}`, {
    hint: "give another name before what it is",
  });
}

/**
 * Throws if the file has this server of the registry already, which has to be updated instead. It is checked before
 * anybody fills in the values.
 */
function requireNew(
  name: string,
  { provenance }: ServerOffer,
  file: ServerFile,
  { force }: AddRequest,
  context: CliContext,
): void {
  const existing = writtenServer(file, name);
  const earlier = isJsonObject(existing) ? existing["provenance"] : undefined;
  if (force || !isJsonObject(earlier) || provenance.kind !== "registry") return;
  if (earlier["name"] !== provenance.name) return;
  const version = oneLine(String(earlier["version"]), 100);
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `${visible(file.path)} has ${provenance.name} already, as '${oneLine(name, 100)}' in version ${version}`,
    { server: name, hint: `to take another version: ${commandFor("update", name, context)}` },
  );
}

/** The key within the server. */
function keyOf(path: string, name: string): string {
  return path.slice(formatPath(["servers", name]).length + 1);
}

/** A file is read by more people and programs than a variable is. */
function credentialNotes(name: string, server: ServerConfig): string[] {
  const hidden = withoutCredentials(server);
  const inBlock = (block: "env" | "headers"): string[] =>
    Object.entries(server[block] ?? {})
      .filter(([key, value]) => hidden[block]?.[key] !== value)
      .map(([key]) => key);
  const [variables, headers] = [inBlock("env"), inBlock("headers")];
  const [movable] = [...variables, ...headers];
  const places = [
    ...variables.map((key) => `-e ${visible(key)}`),
    ...headers.map((key) => `-H ${visible(key)}`),
    ...(hidden.url === server.url ? [] : ["the URL"]),
    ...(canonicalJson(hidden.args) === canonicalJson(server.args) ? [] : ["the arguments"]),
  ];
  if (places.length === 0) return [];
  return [
    `warning: ${places.join(" and ")} looks like a credential, and would be written to the file as it is;`,
    "  '${NAME}' in single quotes keeps it out of the file: the variable is read when the server starts;",
    "  so does secret://…, which names where it is kept: a keyring, a file, a cloud (plugboard secrets --help)",
    ...(movable === undefined
      ? []
      : [
          `  to keep it as a secret once it is added: plugboard secrets move ${shellQuoted(name)} ${shellQuoted(movable)}`,
        ]),
  ];
}

function showTrial(name: string, trial: Trial, context: CliContext, most?: number): void {
  const { screen } = context;
  const { paint } = screen.terminal.err;
  const [first = "", ...rest] = trialLines(name, trial, context).slice(0, most);
  screen.note(paint(trial.state.kind === "ready" ? "green" : "red", first));
  for (const line of rest) screen.note(line);
}

/** A server that does not answer is written only if a person says so. */
async function requireAnswer(
  name: string,
  server: ServerConfig,
  trial: Trial,
  command: Command,
  context: CliContext,
): Promise<void> {
  if (trial.hasAnswered) return;
  const { state } = trial;
  if ("error" in state && state.error.code === "REFUSED_ADDRESS") {
    throw doesNotAnswer(
      name,
      trial,
      `${oneLine(name)} was not added, because Plugboard refuses its address`,
      refusalHint(state.error, server, command),
    );
  }
  if (!command.yes && canAsk(context)) {
    if (await askYesNo("Add it anyway?", context)) return;
    throw notWanted();
  }
  throw doesNotAnswer(
    name,
    trial,
    `${oneLine(name)} was not added, because it does not answer`,
    "to add it without trying it: --no-check",
  );
}

/** How to add it all the same, where one may. */
function refusalHint(
  { allowedBy, hint }: PlugboardError,
  { url = "", ...server }: ServerConfig,
  { kind }: Command,
): string {
  if (allowedBy === undefined) return hint ?? "use another address";
  // A private address over plain http needs both, and the first refusal names only one.
  const next = allowedBy === "allowInsecure" ? refusalOf(url)?.allowedBy : undefined;
  const needed = [allowedBy, next].filter((each) => each !== undefined);
  const all = exceptionsIn({
    ...server,
    ...Object.fromEntries(needed.map((setting) => [setting, true])),
  });
  const written =
    kind === "add" ? exceptionOptions(all).join(" ") : `${JSON.stringify(all).slice(1, -1)} in it`;
  return `to use this address all the same, add it with ${written}`;
}

/** Why the URL is refused even if plain http is allowed. */
function refusalOf(url: string): PlugboardError | undefined {
  try {
    const policy = { allowInsecure: true, allowPrivate: false, allow: [] };
    addressRules(policy).checkUrl(new URL(url));
    return undefined;
  } catch (error) {
    return error instanceof PlugboardError ? error : undefined;
  }
}

async function exists(
  name: string,
  existing: unknown,
  server: ServerConfig,
  { path }: ServerFile,
  context: CliContext,
): Promise<PlugboardError> {
  const lines = await diffLines(
    escapedJsonLines(isJsonObject(existing) ? withoutCredentials(existing) : existing).split("\n"),
    escapedJsonLines(withoutCredentials(server)).split("\n"),
  );
  return new PlugboardError(
    "INVALID_ARGUMENTS",
    [
      `${visible(path)} has a server '${oneLine(name, 100)}' already:`,
      ...lines.map((line) => `  ${line}`),
    ].join("\n"),
    {
      server: name,
      hint: `give another name, or --force to replace it; to remove it: ${commandFor("remove", name, context)}`,
    },
  );
}

interface Added {
  name: string;
  server: ServerConfig;
  file: ServerFile;
  /** False where the file has exactly this server already. */
  isNew: boolean;
  trial?: Trial | undefined;
  isTrusted?: boolean;
}

function report(
  { name, server, file, isNew, trial, isTrusted }: Added,
  context: CliContext,
): number {
  const { screen, options } = context;
  if (options.json) {
    screen.json({
      name,
      file: file.path,
      added: isNew,
      server: withoutCredentials(server),
      ...(trial && { check: trialJson(trial) }),
      ...(isTrusted !== undefined && { trusted: isTrusted }),
    });
    return EXIT.ok;
  }
  const path = visible(file.path);
  screen.lines([isNew ? `added ${visible(name)} to ${path}` : `${path} has exactly this already`]);
  if (isTrusted === false) for (const line of untrustedLines(file, context)) screen.note(line);
  return EXIT.ok;
}
