// `plugboard openclaw setup --shared`: writes the entry that all sessions share into OpenClaw's file.

import type { TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { agentsIn, denialsExcept, sharedEntry, slotsIn } from "../../openclaw/config-entries.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { runningGateway } from "../attach/find-channel.ts";
import {
  type ConnectedApplication,
  type Entry,
  openclawEntry,
} from "../../install/applications/applications.ts";
import { isChanged, makeChange, planChange } from "../connect/change.ts";
import { connect, refuseForeign } from "../connect/connect.ts";
import { ourEntries } from "../../install/applications/found.ts";
import { refuseIncluded } from "../../install/applications/included.ts";
import type { CliContext } from "../context.ts";
import { withSharedState } from "../shared-state.ts";
import { EXIT } from "../exit-code.ts";
import { offeredUndo } from "../offered-command.ts";
import { findSource } from "../find-source.ts";
import { checkOpenclaw, type Finding, refuseProblem, showFindings } from "./checks.ts";
import type { OpenclawRequest, SharedOptions } from "./command.ts";
import type { FoundConfig } from "./config.ts";

export async function setUpShared(
  command: OpenclawRequest,
  shared: SharedOptions,
  found: FoundConfig,
  context: CliContext,
): Promise<number> {
  const { file, value } = found;
  if (shared.agents.length > 0) {
    refuseIncluded(file, value, ["agents", "entries"]);
    checkAgents(shared.agents, value, file);
  }
  const isNamed = command.file !== undefined;
  const findings = await checkOpenclaw({ file, config: value, isNamed, wants: "shared" }, context);
  refuseProblem(findings, context);
  showFindings(findings, context);
  const application = withAgents(found.application, shared.agents);
  if (shared.url === undefined) return connect(command, application, context, { findings });
  const { target, notes } = await gatewayTarget(shared, context);
  return writeGateway({ ...found, application }, { target, notes, findings }, command, context);
}

/** With rules for the other agents in place of the file's own rules. Without agents, the rules of the file stay. */
function withAgents(
  application: ConnectedApplication,
  agents: readonly string[],
): ConnectedApplication {
  if (agents.length === 0) return application;
  return {
    ...application,
    entries: (start, value) => [
      ...application.entries(start, value),
      ...denialsExcept(value, agents).map(openclawEntry),
    ],
    kept: (value) => slotsIn(value).map(openclawEntry),
  };
}

function checkAgents(agents: readonly string[], value: unknown, { file }: TextFile): void {
  const known = agentsIn(value).map(({ id }) => id);
  const unknown = agents.find((agent) => !known.includes(agent));
  if (unknown === undefined) return;
  const near = closest(unknown, known);
  const names = known.map((id) => oneLine(id, 100)).join(", ");
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `OpenClaw has no agent '${oneLine(unknown, 100)}' in ${visible(file)}`,
    {
      hint:
        near === undefined
          ? known.length === 0
            ? "it names no agents under agents.entries, so all that it does is done by one; leave out --for"
            : `its agents are ${names}`
          : `did you mean '${near}'?`,
    },
  );
}

interface GatewayTarget {
  target: JsonObject;
  notes: string[];
}

/** Where OpenClaw reaches the gateway, and with which token. */
async function gatewayTarget(
  { url: given, tokenEnv }: SharedOptions,
  context: CliContext,
): Promise<GatewayTarget> {
  const { options } = context;
  const running = await runningGateway(findSource(context), context);
  const path =
    options.agent === undefined ? "/mcp" : `/agents/${encodeURIComponent(options.agent)}/mcp`;
  const own = running?.url === undefined ? undefined : `${running.url}${path}`;
  const url = given === true ? own : checkedUrl(given);
  if (url === undefined) {
    throw new PlugboardError("SERVER_UNAVAILABLE", "no gateway runs for this configuration", {
      hint: "start one, and leave it running: plugboard up",
    });
  }
  if (tokenEnv !== undefined) {
    return {
      target: { url, headers: { Authorization: `Bearer \${${tokenEnv}}` } },
      notes: [
        `OpenClaw reads the token from ${tokenEnv}: set it where its gateway starts, such as in ~/.openclaw/.env`,
      ],
    };
  }
  if (running?.url === undefined || new URL(running.url).origin !== new URL(url).origin) {
    return {
      target: { url },
      notes: [
        `The entry has no token. If ${url} needs one, give the variable that has it: --token-env <name>`,
      ],
    };
  }
  const token = await withSharedState(context, ({ tokens }) => tokens.ensureDefault());
  return {
    target: { url, headers: { Authorization: `Bearer ${token}` } },
    notes: [
      "The entry has the gateway's token. A token of its own, which you can revoke alone, is better where others read the",
      "file: plugboard tokens add openclaw, and give it with --token-env <name>",
    ],
  };
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isWeb && new URL(text).pathname.endsWith("/mcp")) return text;
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `'${oneLine(text, 200)}' is not the address of a gateway`,
    {
      hint: "expected one such as http://127.0.0.1:7584/mcp or https://gateway.example.com/agents/coder/mcp",
    },
  );
}

async function writeGateway(
  { application, file, value, home }: FoundConfig,
  { target, notes, findings }: GatewayTarget & { findings: readonly Finding[] },
  { yes, file: named }: OpenclawRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const present = ourEntries(application, value);
  const shared = openclawEntry(sharedEntry(target));
  refuseForeign([shared], present, value, file, application);
  const start = { command: "", args: [], env: {}, variables: [] };
  const rules = (without: unknown): Entry[] =>
    application.entries(start, without).filter(({ value: entry }) => typeof entry === "string");
  const change = await planChange({
    application,
    file,
    home,
    present,
    wanted: (without) => [...(application.kept?.(value) ?? []), shared, ...rules(without)],
  });
  await makeChange(change, { yes, notes }, context);
  if (options.json) {
    const denied = change.wanted.filter(({ value: entry }) => typeof entry === "string");
    screen.json({
      application: application.id,
      file: file.file,
      changed: isChanged(change),
      url: target["url"],
      rules: denied.map(({ path, value: entry }) => ({ path, value: entry })),
      findings,
    });
    return EXIT.ok;
  }
  screen.lines([
    isChanged(change)
      ? `OpenClaw has the gateway ${String(target["url"])}: ${visible(file.file)}`
      : `nothing to do, OpenClaw has the gateway already: ${visible(file.file)}`,
    "Start a new session to use the tools; openclaw mcp probe plugboard tries them now. To take it out again:",
    `  ${offeredUndo("openclaw setup", named && file.file)}`,
  ]);
  return EXIT.ok;
}
