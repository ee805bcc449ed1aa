// What can be known about OpenClaw before its file is changed: each finding says what is so, and what to do about it.

import { stat } from "node:fs/promises";
import type { TextFile } from "../../core/config/text/text-file.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { valueIn } from "../../core/types/json.ts";
import { gatewayAddress } from "../../openclaw/gateway-address.ts";
import { shellQuoted } from "../../util/text.ts";
import { compareVersions, packageVersion } from "../../util/version.ts";
import type { CliContext } from "../context.ts";
import { findProgram } from "./program.ts";

export interface Finding {
  about: "openclaw" | "gateway" | "tools" | "file";
  /** With a `problem`, the setup cannot work. */
  state: "ok" | "warning" | "problem";
  message: string;
  /** What to do. */
  remedy?: string;
}

/** What all of this was tested with. */
const TESTED = "2026.9.6";
/** The first in which a session can switch servers on for itself. */
const FIRST_WITH_SLOTS = "2026.8.1";

const UPDATE = "update it: openclaw update";
const GATEWAY_TIMEOUT_MS = 5000;

export interface Looked {
  file: TextFile;
  /** Its value. */
  config: unknown;
  /** Somebody has named the file, so it is made where there is none. */
  isNamed: boolean;
  wants: "slots" | "shared";
}

export async function checkOpenclaw(looked: Looked, context: CliContext): Promise<Finding[]> {
  const { file, config, wants } = looked;
  const [program, gateway, mode] = await Promise.all([
    checkProgram(looked, context),
    wants === "slots" ? checkGateway(config, context) : [],
    checkMode(file),
  ]);
  // Where it cannot work anyway, that is all there is to say.
  if (program.some(({ state }) => state === "problem")) return program;
  return [...program, ...gateway, ...checkReload(config), ...checkTools(config), ...mode];
}

/** Throws UNSUPPORTED if one of them is a problem, and then says the others. */
export function refuseProblem(findings: readonly Finding[], context: CliContext): void {
  const problem = findings.find(({ state }) => state === "problem");
  if (problem === undefined) return;
  showFindings(
    findings.filter((finding) => finding !== problem),
    context,
  );
  throw new PlugboardError("UNSUPPORTED", problem.message, { hint: problem.remedy });
}

export function showFindings(findings: readonly Finding[], { screen }: CliContext): void {
  for (const line of findings.flatMap(linesOf)) screen.note(line);
}

export function linesOf({ state, message, remedy }: Finding): string[] {
  return [`${state}: ${message}`, ...(remedy === undefined ? [] : [`  ${remedy}`])];
}

async function checkProgram(
  { file, config, isNamed, wants }: Looked,
  { io, signal }: CliContext,
): Promise<Finding[]> {
  const program = await findProgram(io.env, signal);
  if (program.kind === "absent" && file.text === undefined && !isNamed) {
    return [
      {
        about: "openclaw",
        state: "problem",
        message: `OpenClaw is not here: there is neither the command openclaw nor ${file.file}`,
        remedy:
          "install it (npm install -g openclaw) and run openclaw onboard; or name its file: --file <file>",
      },
    ];
  }
  const touched = valueIn(config, ["meta", "lastTouchedVersion"]);
  const written =
    typeof touched === "string" && /^\d{4}\.\d+\.\d+/.test(touched) ? touched : undefined;
  switch (program.kind) {
    case "found":
      return [
        checkVersion(program.version, wants),
        ...(file.text === undefined && !isNamed ? [noFile(file)] : []),
      ];
    case "absent":
      return [
        {
          about: "openclaw",
          state: "warning",
          message: "the command openclaw is not on your PATH",
          remedy:
            wants === "slots"
              ? "install it (npm install -g openclaw), because plugboard acp --openclaw starts openclaw acp"
              : "install it: npm install -g openclaw",
        },
        ...(written === undefined ? [] : [checkVersion(written, wants)]),
      ];
    case "failed":
      return [
        {
          about: "openclaw",
          state: "warning",
          message: `openclaw --version failed: ${program.reason}`,
          remedy: "make it run in this shell first; OpenClaw needs Node 24.16 or later",
        },
        ...(written === undefined ? [] : [checkVersion(written, wants)]),
      ];
  }
}

function noFile({ file }: TextFile): Finding {
  return {
    about: "file",
    state: "warning",
    message: `there is no ${file} yet, so it would be created`,
    remedy: "if OpenClaw is new here, set it up first: openclaw onboard",
  };
}

function checkVersion(version: string, wants: "slots" | "shared"): Finding {
  const about = "openclaw";
  if (wants === "slots" && compareVersions(version, FIRST_WITH_SLOTS) < 0) {
    return {
      about,
      state: "problem",
      message: `OpenClaw ${version} cannot give a session servers of its own; ${FIRST_WITH_SLOTS} and later can`,
      remedy: `${UPDATE}; or use one entry for all sessions: plugboard openclaw setup --shared`,
    };
  }
  if (compareVersions(version, TESTED) < 0) {
    const what = wants === "slots" ? "slots, and the protocol of its gateway" : "the entry";
    return {
      about,
      state: "warning",
      message: `OpenClaw ${version} is older than ${TESTED}, with which Plugboard was tested; untested: ${what}`,
      remedy: UPDATE,
    };
  }
  const isNewer = compareVersions(version, TESTED) > 0;
  return {
    about,
    state: "ok",
    message: `OpenClaw ${version}${isNewer ? `; Plugboard was tested with ${TESTED}` : ""}`,
  };
}

/** Whether it answers, and lets us change sessions. */
async function checkGateway(config: unknown, { io, clock }: CliContext): Promise<Finding[]> {
  const about = "gateway";
  const { address, isRemote } = gatewayAddress(config, io.env);
  if (isRemote) {
    return [
      {
        about,
        state: "problem",
        message: `OpenClaw's gateway is on another machine, ${address.url}, and cannot reach slots on this one`,
        remedy: "run this command, and your editor's agent, on the machine of the gateway",
      },
    ];
  }
  const { GatewayClient } = await import("../../openclaw/gateway-client.ts");
  const client = new GatewayClient(address, {
    clock,
    version: packageVersion(),
    timeoutMs: GATEWAY_TIMEOUT_MS,
  });
  try {
    const { version } = await client.hello();
    const found = checkVersion(version, "slots");
    const ok: Finding = {
      about,
      state: "ok",
      message: `its gateway at ${address.url} lets Plugboard switch servers on for a session`,
    };
    // The program may have been updated, and the gateway not restarted.
    return found.state === "ok"
      ? [ok]
      : [{ ...found, about, remedy: `${found.remedy}; then restart the gateway` }];
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const { message, hint, code } = error;
    const remedies: Partial<Record<typeof code, string>> = {
      NETWORK: "start it before your editor does: openclaw gateway run",
      PROTOCOL: "check gateway.port in its configuration",
    };
    const remedy = remedies[code] ?? hint;
    return [{ about, state: "warning", message, ...(remedy !== undefined && { remedy }) }];
  } finally {
    await client.close();
  }
}

function checkReload(config: unknown): Finding[] {
  if (valueIn(config, ["gateway", "reload", "mode"]) !== "off") return [];
  return [
    {
      about: "gateway",
      state: "warning",
      message: 'gateway.reload.mode is "off", so that a running gateway does not notice the change',
      remedy: "restart it afterwards: openclaw gateway restart",
    },
  ];
}

/** Rules of OpenClaw under which no tool of any MCP server is seen. */
function checkTools(config: unknown): Finding[] {
  const deny = valueIn(config, ["tools", "deny"]);
  const all = (Array.isArray(deny) ? deny : []).find(
    (pattern) => pattern === "bundle-mcp" || pattern === "group:plugins" || pattern === "*",
  ) as string | undefined;
  if (all !== undefined) {
    return [
      {
        about: "tools",
        state: "warning",
        message: `tools.deny has "${all}", so that OpenClaw shows no tool of any MCP server`,
        remedy: "take it out of tools.deny",
      },
    ];
  }
  if (valueIn(config, ["tools", "profile"]) !== "minimal") return [];
  return [
    {
      about: "tools",
      state: "warning",
      message: 'tools.profile is "minimal", so that OpenClaw shows no tool of any MCP server',
      remedy: 'set it to "coding" or "messaging"',
    },
  ];
}

/** It has tokens in it, ours and others. */
async function checkMode({ file, target, text }: TextFile): Promise<Finding[]> {
  if (text === undefined || process.platform === "win32") return [];
  const { mode } = await stat(target);
  if ((mode & 0o077) === 0) return [];
  return [
    {
      about: "file",
      state: "warning",
      message: `others on this machine may read ${file}, which has tokens in it`,
      remedy: `chmod 600 ${shellQuoted(target)}`,
    },
  ];
}
