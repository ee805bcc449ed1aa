// Decides whether a command attaches to the gateway that runs for its configuration, or stands alone, and why.

import { statSync } from "node:fs";
import {
  type Difference,
  difference,
  type FileHashes,
  type Fingerprint,
  hashOfFile,
  NATIVE_MODULES,
  readFingerprint,
  type ServerDifference,
  serverDifference,
  sharedNames,
} from "../../core/config/fingerprint.ts";
import {
  type ConfigSource,
  filesOf,
  type FileSource,
  ownFile,
  placeOfSource,
} from "../../core/config/find.ts";
import { digestOf, TrustStore } from "../../core/config/trust/trust-store.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { DEFAULT_AGENT } from "../../core/types/agent-config.ts";
import { findGateway, type RunningGateway } from "../../core/state/running-gateway.ts";
import { pause } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { readRegularBytesNow } from "../../util/regular-file.ts";
import { packageVersion } from "../../util/version.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { needsTrust } from "../trust/needs-trust.ts";

/** A gateway notices an edit of its file within a second. A command that comes in between waits for it. */
const EDIT_MS = 2000;
const LOOK_MS = 100;

const RELOAD = "to apply the file as it is: plugboard reload";
const RESTART = "to share its servers, start the gateway again";
const AGAIN = "to share it, start the gateway again";

/** A gateway with a channel, whose record can be compared. */
export interface Attachable extends RunningGateway {
  channel: NonNullable<RunningGateway["channel"]>;
  fingerprint: Fingerprint;
}

export type FoundChannel =
  | {
      kind: "attach";
      gateway: Attachable;
      /** The servers that this command would start in the same way. */
      shares: ReadonlySet<string>;
      /** The other servers of the gateway, and why this command starts its own. */
      apart: ReadonlyMap<string, string>;
    }
  /** With a reason if there is a gateway. A person should see it: its servers now run twice. */
  | { kind: "standalone"; reason?: string };

type FindContext = Pick<CliContext, "io" | "options" | "clock" | "signal">;

/** `programPath` is the PATH of the command's programs, if that is not the one it was started with. */
export async function findChannel(
  source: ConfigSource,
  context: FindContext,
  programPath?: Promise<string | undefined>,
): Promise<FoundChannel> {
  const { io, options, clock, signal } = context;
  if (options.standalone || source.kind !== "file") return { kind: "standalone" };
  for (;;) {
    const gateway = await runningGateway(source, context);
    if (gateway === undefined) return { kind: "standalone" };
    const found = compare(gateway, source, context);
    if (found === "edited") await pause(clock, LOOK_MS, signal);
    else if (found.kind === "standalone" || found.apart.size === 0 || !programPath) return found;
    else return { ...found, ...divide(found.gateway, context, await envWith(programPath, io)) };
  }
}

/** What the command starts servers with. */
export async function envWith(
  programPath: Promise<string | undefined> | undefined,
  { env }: Pick<CliContext["io"], "env">,
): Promise<Environment> {
  const path = await programPath;
  return path === undefined ? env : { ...env, PATH: path };
}

/** `edited`: an edit of a file may be on its way to the gateway. */
function compare(
  gateway: RunningGateway,
  source: FileSource,
  context: FindContext,
): FoundChannel | "edited" {
  const { io, options, clock, signal } = context;
  const standalone = (why: string, remedy: string): FoundChannel => ({
    kind: "standalone",
    reason: standaloneReason(gateway, why, remedy),
  });
  const version = packageVersion();
  if (gateway.version !== version) {
    return standalone(`it is version ${gateway.version}, and this is ${version}`, RESTART);
  }
  const { channel } = gateway;
  const fingerprint = readFingerprint(gateway.fingerprint);
  if (fingerprint === undefined || channel === undefined) {
    return standalone("it does not let other commands attach", RESTART);
  }
  const files = filesNow(source);
  // Whoever loads them says why they cannot be read.
  if (files === undefined) return { kind: "standalone" };
  const { agent = DEFAULT_AGENT } = options;
  const differs = difference(fingerprint, { agent, ...files });
  if (differs === undefined) {
    const found = { ...gateway, channel, fingerprint };
    return { kind: "attach", gateway: found, ...divide(found, context, io.env) };
  }
  const age = clock.now() - files.editedAt;
  const isOfFiles = differs.kind === "file" || differs.kind === "base";
  if (isOfFiles && age >= 0 && age <= EDIT_MS && !signal.aborted) return "edited";
  return standalone(...explain(differs, source.path, ownFile(io.env, io.homedir)));
}

/** Which servers a command shares, and why not the others. */
function divide(
  { fingerprint }: Attachable,
  { io, options }: FindContext,
  env: Environment,
): Pick<FoundChannel & { kind: "attach" }, "shares" | "apart"> {
  const { agent = DEFAULT_AGENT } = options;
  const shares = new Set<string>();
  const apart = new Map<string, string>();
  for (const server of sharedNames(fingerprint, agent)) {
    const differs = serverDifference(fingerprint, { agent, server, env, cwd: io.cwd });
    if (differs === undefined) shares.add(server);
    else apart.set(server, apartReason(server, differs));
  }
  return { shares, apart };
}

/** The gateway that runs for a configuration, whatever it was started with. */
export async function runningGateway(
  source: ConfigSource,
  { io }: Pick<FindContext, "io">,
): Promise<RunningGateway | undefined> {
  return findGateway(plugboardHome(io.env, io.homedir), placeOfSource(source));
}

/** What a person is told when no gateway runs for a configuration. */
export function noGatewayRuns(source: ConfigSource): string {
  return `no gateway is running${source.kind === "file" ? ` for ${visible(source.path)}` : ""}`;
}

/** What a person is told when a gateway runs, but is not used. */
export function standaloneReason({ pid }: RunningGateway, why: string, remedy: string): string {
  return `the gateway (pid ${pid}) is not used, because ${why}. This command starts servers of its own; ${remedy}`;
}

/**
 * Whether what the gateway runs with needs no trust, or the gateway has found that you trust exactly this. The same bytes
 * under the same record need no second judgement, so the file is not read again.
 */
export async function isTrustedBy(
  { fingerprint }: Attachable,
  source: FileSource,
  { env, homedir }: CliContext["io"],
): Promise<boolean> {
  const [last, ...beneath] = filesOf(source).reverse();
  // Only of the one file is it known what was approved.
  if (last === undefined || beneath.some((each) => needsTrust(each, { env }))) return false;
  if (!needsTrust(last, { env })) return true;
  if (fingerprint.trust === undefined) return false;
  const record = await new TrustStore(plugboardHome(env, homedir)).find(last.path);
  return record !== undefined && digestOf(record) === fingerprint.trust;
}

/** Undefined if one of the files cannot be read. */
function filesNow({ path, base }: FileSource): (FileHashes & { editedAt: number }) | undefined {
  const hashOf = (file: string): string => hashOfFile(readRegularBytesNow(file));
  const editOf = (file: string): number => statSync(file).mtimeMs;
  try {
    const file = { file: hashOf(path), editedAt: editOf(path) };
    if (base === undefined) return file;
    return { ...file, base: hashOf(base), editedAt: Math.max(file.editedAt, editOf(base)) };
  } catch {
    return undefined;
  }
}

type Reason = [why: string, remedy: string];

/** Why it stands alone, and what to do about it. `own` is the user's own file. */
function explain(differs: Difference, path: string, own: string): Reason {
  const has = differs.kind === "base" ? differs.has : undefined;
  const file = visible(has === undefined ? path : own);
  if (differs.kind === "file" || has === "both") {
    return [`it runs with ${file} as it was before`, RELOAD];
  }
  if (differs.kind === "agent") return [`it has no agent '${differs.agent}'`, RELOAD];
  if (differs.kind === "untrusted") {
    const why = `${file} was not trusted when it read the file`;
    return [why, "if you trust the file: plugboard trust"];
  }
  // A gateway that was started with --config has that file alone, and so has a command.
  if (has === "command") return [`it was started without ${file}`, `${RESTART} without --config`];
  const without = "with --config, or leave out --config in the directory of the file";
  return [`it has the servers of ${file} too`, `${RESTART} ${without}`];
}

/** Why a command does not use the gateway's server, and what to do about it. */
function apartReason(server: string, differs: ServerDifference): string {
  const isNative = server === NATIVE_MODULES;
  const who = isNative
    ? "the modules in tools.native of the gateway are"
    : `server '${server}' of the gateway is`;
  const [why, remedy] = explainServer(differs, isNative);
  return `${who} not shared, because ${why}; ${remedy}`;
}

function explainServer(differs: ServerDifference, isNative: boolean): Reason {
  switch (differs.kind) {
    case "unknown":
      return ["it does not run there", RELOAD];
    case "variable": {
      const { name, isSetHere } = differs;
      return isSetHere
        ? [`${name} is set differently there`, `${AGAIN} with this ${name}`]
        : [`${name} is not set here`, "to share it, set it as the gateway has it"];
    }
    case "program": {
      const { name, there } = differs;
      const where = there === null ? "not on its PATH" : `${visible(there)} there`;
      return [
        `'${name}' is ${where}`,
        `${AGAIN} with this PATH, or give the server an absolute path`,
      ];
    }
    case "directory":
      return [
        `${differs.what}, and the gateway runs in ${visible(differs.cwd)}`,
        isNative
          ? 'to share them, run in that directory, or set a "workspace"'
          : 'to share it, run in that directory, or give the server a "cwd" or an absolute path',
      ];
  }
}
