// `plugboard update`: takes another version of a server from the MCP registry. Shows how its command and its tools change,
// since a new version may do something else than the one that was trusted.

import { compareTools, type ToolChange } from "../../core/board/pins.ts";
import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { type ServerText, writtenServer } from "../../core/config/server-text.ts";
import { removeValue, setValue } from "../../core/config/text/edit.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import { mentionsSecret } from "../../core/types/secret-reference.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { RegistryClient } from "../../install/registry/client.ts";
import { isNewer } from "../../install/registry/newer.ts";
import type { RegistryEntry } from "../../install/registry/server-json.ts";
import { waysOf } from "../../install/registry/ways.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { oneLine, plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT, exitCodeFor } from "../exit-code.ts";
import { changeLines } from "../pins/view.ts";
import { canAsk, requireYes } from "../terminal/input.ts";
import { serverLines } from "../trust/view.ts";
import type { UpdateRequest } from "./command.ts";
import { removeUnusedBundles } from "./bundles.ts";
import { diffLines } from "./diff-lines.ts";
import { fillOffer, offerFrom, otherWayLines } from "./offer.ts";
import { withRegistry } from "./open-registry.ts";
import { type InstalledServer, installedServers } from "./outdated.ts";
import { changeServerFile, findServer, untrustedLines } from "./server-file.ts";
import { doesNotAnswer, type Trial, trialLines, tryServer } from "./trial.ts";
import { TypedSecrets } from "./typed-secrets.ts";
import { wrong } from "../wrong.ts";

interface Wanted extends InstalledServer {
  /** Absent: the newest. */
  version?: string;
}

type Updated =
  | { kind: "current"; server: Wanted }
  | { kind: "updated"; server: Wanted; version: string; changes?: ToolChange[] }
  | { kind: "failed"; server: Wanted; error: PlugboardError };

/** What the registry decides about. The rest of an entry is the person's. */
const CONNECTION = ["command", "args", "env", "url", "headers", "transport", "type"] as const;

const OF_ADDRESS = ["auth", "oauth", "tls", "allowInsecure", "allowPrivate"] as const;

export async function runUpdate(command: UpdateRequest, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const wanted = await wantedServers(command, context);
  if (wanted.length > 1 && command.set.length > 0) {
    throw wrong("--set is for one server, and this would update several", "name the server");
  }
  const done: Updated[] = [];
  for (const server of wanted) {
    try {
      done.push(await update(server, command, context));
    } catch (error) {
      const isKnown = error instanceof PlugboardError && error.code !== "CANCELLED";
      // The failure of a single server is the failure of the command. Of several servers, the others are updated all
      // the same.
      if (!isKnown || wanted.length === 1) throw error;
      screen.note(`plugboard: ${visible(server.name)}: ${error.message}`);
      done.push({ kind: "failed", server, error });
    }
  }
  if (options.json) screen.json({ servers: done.map(toJson) });
  else screen.lines(done.flatMap(outcomeLines));
  if (wanted.length === 0) screen.note("no server was added from a registry");
  const failed = done.find((each) => each.kind === "failed");
  return failed === undefined ? EXIT.ok : exitCodeFor(failed.error.code);
}

async function wantedServers(
  { names, scope }: UpdateRequest,
  context: CliContext,
): Promise<Wanted[]> {
  const installed = await installedServers(scope, context);
  if (names.length === 0) return installed;
  const wanted: Wanted[] = [];
  for (const word of names) {
    const whole = installed.find(({ name }) => name === word);
    const at = word.lastIndexOf("@");
    const part = installed.find(({ name }) => at > 0 && name === word.slice(0, at));
    if (whole !== undefined) wanted.push(whole);
    else if (part !== undefined) wanted.push({ ...part, version: word.slice(at + 1) });
    else throw await notFromRegistry(word, scope, context);
  }
  return wanted;
}

/** Rejects with UNKNOWN_SERVER if there is no such server at all. */
async function notFromRegistry(
  name: string,
  scope: UpdateRequest["scope"],
  context: CliContext,
): Promise<PlugboardError> {
  const { server } = await findServer(name, scope, context);
  const provenance = isJsonObject(server["provenance"]) ? server["provenance"] : undefined;
  return provenance === undefined
    ? wrong(
        `'${oneLine(name, 100)}' was not added from a registry, so nobody says which version is newer`,
        "to replace it, add it again with --force",
      )
    : wrong(
        `'${oneLine(name, 100)}' was added from a bundle, which does not say where newer versions are`,
        "add the newer file with --force",
      );
}

async function update(
  server: Wanted,
  command: UpdateRequest,
  context: CliContext,
): Promise<Updated> {
  const { file, provenance } = server;
  if (file.trust.kind === "untrusted") {
    const message = `${visible(file.path)} is not trusted, and it names the registry to ask`;
    throw new PlugboardError("UNTRUSTED", message, { hint: "to look at it: plugboard trust" });
  }
  try {
    return await withRegistry(command.registry ?? provenance.registry, file, context, (registry) =>
      updateFrom(registry, server, command, context),
    );
  } finally {
    await removeUnusedBundles(file, context);
  }
}

async function updateFrom(
  registry: RegistryClient,
  server: Wanted,
  command: UpdateRequest,
  context: CliContext,
): Promise<Updated> {
  const { name, file, provenance } = server;
  const { screen } = context;
  const entry = await registry.get(provenance.name, server.version);
  const { version } = entry.server;
  const isSame = version === provenance.version && entry.hash === provenance.hash;
  const isOld = server.version === undefined && isOlder(version, provenance.version);
  if ((isSame || isOld) && command.set.length === 0) return { kind: "current", server };
  const written = writtenServer(file, name);
  const before: JsonObject = objectIn(written);
  const ways = waysOf(entry, registry.url).filter(({ kind }) => kind !== "unusable");
  const way = ways.some(({ id }) => id === provenance.way) ? provenance.way : undefined;
  const found = await offerFrom(entry, registry, way, file, context);
  const { offer, lines } = found;
  for (const line of [...lines, ...otherWayLines(found)]) screen.note(line);
  if (version === provenance.version && !isSame) {
    screen.note(`warning: what the registry says about version ${visible(version)} has changed`);
  }
  if (way === undefined && provenance.way !== undefined) {
    screen.note(`note: it cannot be run as ${visible(provenance.way)} any more`);
  }
  const given = { set: command.set, earlier: provenance.inputs ?? {}, yes: command.yes };
  const secrets = new TypedSecrets(name, file, command.secrets, context);
  const filled = await fillOffer(offer, given, secrets, context);
  const base = await builtBefore(registry, entry, server);
  const after = merged(before, filled.server, base);
  parseAgentConfig({ servers: { [name]: after } });
  screen.note(
    `${visible(name)} would change from ${visible(provenance.version)} to ${visible(version)}:`,
  );
  for (const line of await commandDiff(name, before, after)) screen.note(line);
  for (const note of filled.notes) screen.note(note);
  const surprise =
    version === provenance.version && !isSame
      ? `what the registry says about version ${visible(version)} has changed`
      : way === undefined && provenance.way !== undefined
        ? `it cannot be run as ${visible(provenance.way)} any more`
        : isElsewhere(before, after)
          ? "it is at another address"
          : undefined;
  if (surprise !== undefined && command.yes) throw unforeseen(name, surprise);
  const changes = await compared(
    { name, before, after, file, unset: filled.unset, secrets },
    command,
    context,
  );
  const isTrusted = await secrets.onceAgreed(
    () => requireYes("Update it?", { yes: command.yes, what: "update it" }, context),
    () => {
      const change = (servers: ServerText): string => withChanges(servers, name, before, after);
      const what = `update ${oneLine(name, 100)} to ${oneLine(version, 100)}`;
      return changeServerFile(file, change, { names: [name], what }, context);
    },
  );
  if (!isTrusted) for (const line of untrustedLines(file, context)) screen.note(line);
  return { kind: "updated", server, version, ...(changes && { changes }) };
}

/** `--yes` is for newer versions. What looks like somebody else's doing is for a person to judge. */
function unforeseen(name: string, surprise: string): PlugboardError {
  return new PlugboardError(
    "NOT_APPROVED",
    `'${oneLine(name, 100)}' was not updated: ${surprise}`,
    {
      server: name,
      hint: "look at what is shown above, and update it without --yes",
    },
  );
}

function isElsewhere(before: JsonObject, after: ServerConfig): boolean {
  return hostOf(before["url"]) !== hostOf(after.url);
}

/** Undefined for a command. There may be references in a URL. */
function hostOf(url: unknown): string | undefined {
  return typeof url === "string" ? /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0].toLowerCase() : undefined;
}

function isOlder(version: string, than: string): boolean {
  return version !== than && !isNewer(version, than);
}

/** What `add` wrote, to tell it apart from what the person has changed since. Undefined if that cannot be known. */
async function builtBefore(
  registry: RegistryClient,
  entry: RegistryEntry,
  { provenance }: Wanted,
): Promise<ServerConfig | undefined> {
  const { name, version, hash, way: id, inputs = {} } = provenance;
  try {
    const old = entry.server.version === version ? entry : await registry.get(name, version);
    const way = waysOf(old, registry.url).find((each) => each.id === id);
    if (old.hash !== hash || way?.kind !== "offer") return undefined;
    return way.offer.build(new Map(Object.entries(inputs)));
  } catch (error) {
    if (error instanceof PlugboardError && error.code !== "CANCELLED") return undefined;
    throw error;
  }
}

/**
 * Variables and headers that the person added stay, and so does everything else that is not about the connection. What was
 * given for one address is not sent to another.
 */
function merged(
  before: JsonObject,
  built: ServerConfig,
  base: ServerConfig | undefined,
): ServerConfig {
  const provenance = objectIn(before["provenance"]);
  // A bundle runs in its own directory.
  const isBundle = String(provenance["way"]).startsWith("mcpb");
  const isMoved = isElsewhere(before, built);
  const replaced = new Set<string>([
    ...CONNECTION,
    ...(isBundle ? ["cwd"] : []),
    ...(isMoved ? OF_ADDRESS : []),
  ]);
  const kept = Object.fromEntries(Object.entries(before).filter(([key]) => !replaced.has(key)));
  const after: ServerConfig = { ...kept, ...built };
  for (const key of ["env", "headers"] as const) {
    const written = before[key];
    if (base === undefined || !isJsonObject(written)) continue;
    const [made, based] = [after[key] ?? {}, base[key] ?? {}];
    const own = Object.entries(written).filter(
      ([name, value]) =>
        !Object.hasOwn(based, name) ||
        // A reference that the person wrote in place of what `add` did, which is still the same.
        (mentionsSecret(String(value)) && made[name] === based[name]),
    );
    const isFit = key === "env" ? after.command !== undefined : !isMoved;
    if (own.length === 0 || !isFit) continue;
    after[key] = {
      ...after[key],
      ...Object.fromEntries(own.map(([name, value]) => [name, String(value)])),
    };
  }
  return after;
}

/** Only what differs is written, so that comments beside the rest stay. */
function withChanges(
  { text, place }: ServerText,
  name: string,
  before: JsonObject,
  after: ServerConfig,
): string {
  const changed: JsonObject = { ...after };
  let edited = text;
  for (const key of new Set([...Object.keys(before), ...Object.keys(changed)])) {
    const path = [...place, name, key];
    const value = Object.hasOwn(changed, key) ? changed[key] : undefined;
    if (value === undefined) edited = removeValue(edited, path);
    else if (!Object.hasOwn(before, key) || canonicalJson(before[key]) !== canonicalJson(value)) {
      edited = setValue(edited, path, value);
    }
  }
  return edited;
}

function commandDiff(name: string, before: JsonObject, after: ServerConfig): Promise<string[]> {
  const lines = (server: ServerConfig): string[] => serverLines(name, withoutCredentials(server));
  return diffLines(lines(before), lines(after));
}

// The tools

interface Compared {
  name: string;
  before: ServerConfig;
  after: ServerConfig;
  file: InstalledServer["file"];
  unset: string[];
  secrets: TypedSecrets;
}

/** Undefined if they were not compared. */
async function compared(
  { name, before, after, file, unset, secrets }: Compared,
  command: UpdateRequest,
  context: CliContext,
): Promise<ToolChange[] | undefined> {
  const { screen } = context;
  if (!command.check) return undefined;
  if (unset.length > 0) {
    screen.note(`its tools were not compared, because ${unset.join(" and ")} must be set for that`);
    return undefined;
  }
  const what = "start the new version";
  const question = "Start it, to see how its tools change?";
  const [old, now] = await secrets.onceAgreed(
    () => requireYes(question, { yes: command.yes, what }, context),
    async () => {
      const known = await tryServer(name, withoutRules(before), file, context, "unknown");
      const tried = await tryServer(name, withoutRules(after), file, context);
      if (!tried.isListed) await requireAnswer(name, tried, command, context);
      return [known, tried];
    },
  );
  if (!now.isListed) return undefined;
  const changes = compareTools(old.isListed ? old.tools : [], now.tools);
  if (!old.isListed)
    screen.note("The tools of the old version are not known; those of the new one:");
  for (const line of changesLines(changes, context)) screen.note(line);
  if (old.isListed && changes.length === 0) {
    screen.note(`its ${plural(now.tools.length, "tool")} stay as they are`);
  }
  return changes;
}

/** Without rules, which hide tools: a hidden tool can change too, and the update shows the change. */
function withoutRules(server: ServerConfig): ServerConfig {
  const plain = { ...server };
  delete plain.tools;
  delete plain.include;
  return plain;
}

async function requireAnswer(
  name: string,
  trial: Trial,
  { yes }: UpdateRequest,
  context: CliContext,
): Promise<void> {
  for (const line of trialLines(name, trial, context)) context.screen.note(line);
  if (trial.hasAnswered || (!yes && canAsk(context))) return;
  throw doesNotAnswer(
    name,
    trial,
    `${oneLine(name)} was not updated, because the new version does not answer`,
    "to update it without trying it: --no-check",
  );
}

function changesLines(changes: readonly ToolChange[], { screen }: CliContext): string[] {
  const { paint } = screen.terminal.err;
  const tones = { new: "green", changed: "yellow", removed: "red" } as const;
  return changes.flatMap(({ tool, kind, changes: parts, isCut }) => [
    `${paint("bold", oneLine(visible(tool), 200))}  ${paint(tones[kind], kind)}`,
    ...parts.flatMap((part) => changeLines(part, "changed", paint)),
    ...(isCut ? ["  … and more"] : []),
  ]);
}

// What became of it

function outcomeLines(done: Updated): string[] {
  const name = visible(done.server.name);
  const version = visible(done.server.provenance.version);
  switch (done.kind) {
    case "current":
      return [`${name} is up to date: ${version}`];
    case "updated":
      return [
        `updated ${name} from ${version} to ${visible(done.version)} in ${visible(done.server.file.path)}`,
      ];
    case "failed":
      return [];
  }
}

function toJson(done: Updated): object {
  const { name, file, provenance } = done.server;
  return {
    name,
    file: file.path,
    from: provenance.version,
    updated: done.kind === "updated",
    ...(done.kind === "updated" && {
      to: done.version,
      ...(done.changes && { tools: done.changes }),
    }),
    ...(done.kind === "failed" && {
      error: { code: done.error.code, message: done.error.message },
    }),
  };
}
