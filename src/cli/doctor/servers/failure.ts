// Why a server cannot be used, as a finding: what happened, and what to do about it.

import { nameOfCause } from "../../../core/board/failure-cause.ts";
import type { ErrorCode, PlugboardError } from "../../../core/types/errors.ts";
import { isRemote, type ServerDefinition } from "../../../core/types/server-definition.ts";
import { errorCode } from "../../../util/error-code.ts";
import { shellQuoted, shellWord, withoutName } from "../../../util/text.ts";
import { wantsSignIn } from "../../status/server-state.ts";
import type { Finding } from "../finding.ts";
import type { Examined } from "./examine.ts";

/** The check that a failure counts for, where the code alone says it. */
const CHECKS: Partial<Record<ErrorCode, string>> = {
  SPAWN_FAILED: "command-not-startable",
  UNRESOLVED_VALUE: "variable-not-set",
  SECRET_UNAVAILABLE: "secret-unavailable",
  CONNECTION_CLOSED: "exits-at-start",
  TIMEOUT: "no-answer",
  HANDSHAKE_FAILED: "handshake-failed",
  UNSUPPORTED_VERSION: "protocol-version",
  MESSAGE_TOO_LARGE: "message-too-large",
  PROTOCOL: "not-mcp",
  NETWORK: "unreachable",
  REFUSED_ADDRESS: "address-not-allowed",
  HTTP_STATUS: "http-error",
};

const OF_TLS = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Undefined if the server is ready or disabled. */
export function failureOf(examined: Examined): Finding | undefined {
  const { definition, status } = examined;
  const { name: subject } = definition;
  const { state } = status;
  switch (state.kind) {
    case "ready":
    case "disabled":
      return undefined;
    case "needs-auth":
      return examined.forEach === undefined
        ? refusedAccess(examined, state.remedy)
        : nobodyCan(examined);
    case "failed":
    case "backoff": {
      const { error } = state;
      return {
        level: "broken",
        check: checkFor(error, status.stderr),
        subject,
        message: `${subject}: ${withoutName(error.message, subject)}`,
        remedy: remedyFor(error, examined),
      };
    }
    default:
      return {
        level: "broken",
        check: "not-ready",
        subject,
        message: `${subject}: it did not become ready`,
        remedy: `to see its state: plugboard status ${shellWord(subject)}`,
      };
  }
}

function checkFor(error: PlugboardError, stderr: readonly string[]): string {
  const { code, status } = error;
  if (code === "CONNECTION_CLOSED" || code === "HANDSHAKE_FAILED") {
    const cause = nameOfCause(stderr);
    if (cause !== undefined) return cause;
  }
  if (code === "NETWORK" && OF_TLS.test(errorCode(error.cause) ?? "")) return "certificate-refused";
  if (code === "HTTP_STATUS" && (status === 404 || status === 405)) return "wrong-path";
  return CHECKS[code] ?? "server-fails";
}

/** Undefined if each person can, for themselves. */
function nobodyCan(examined: Examined): Finding | undefined {
  const { definition, forEach } = examined;
  const { name: subject } = definition;
  if (forEach === undefined || "at" in forEach) return undefined;
  const { failure } = forEach;
  return {
    level: "broken",
    check: failure.code === "NEEDS_AUTH" ? "sign-in-impossible" : checkFor(failure, []),
    subject,
    message: `${subject}: nobody can use it: ${withoutName(failure.message, subject)}`,
    remedy: remedyFor(failure, examined),
  };
}

/** What the server answered is in `lastError`; `remedy` repeats it before it says what to do. */
function refusedAccess({ definition, status }: Examined, remedy: string): Finding {
  const { name: subject } = definition;
  const { lastError = "the server refuses access", state } = status;
  const start = `${lastError}; `;
  return {
    level: "broken",
    check: wantsSignIn(state) ? "sign-in-required" : "credentials-refused",
    subject,
    message: `${subject}: ${lastError}`,
    remedy: remedy.startsWith(start) ? remedy.slice(start.length) : remedy,
  };
}

/** What to do, as exactly as it can be said: the hint of the failure, unless more is known here. */
function remedyFor(error: PlugboardError, examined: Examined): string {
  const { definition, entry, status, isCommandMissing } = examined;
  const { target, name } = definition;
  const { code, hint, lacks } = error;
  if (target.kind === "stdio" && code === "TIMEOUT") return timeoutRemedy(examined);
  if (target.kind === "stdio" && isCommandMissing) {
    const program = INSTALL.get(target.command);
    const [suggestion = ""] = /^did you mean '[^']+'\? Otherwise /.exec(hint ?? "") ?? [];
    return `${suggestion}install ${program ?? "it"}, or write its full path into "command" of ${entry}`;
  }
  if (lacks.length > 0) {
    const names = lacks.map((each) => `"${each}": "…"`);
    return `add this to ${entry}; variables of your shell are not passed on by themselves:\n  "env": { ${names.join(", ")} }`;
  }
  if (hint !== undefined) return hint;
  if (code === "UNSUPPORTED_VERSION") return "update the server: it speaks another version of MCP";
  if (target.kind === "stdio") {
    return `run it by hand to see what it says:\n  ${byHand(definition, status.target)}`;
  }
  if (isRemote(target)) {
    return `check "url" in ${entry}, and whether somebody answers there:\n  curl -i ${shellQuoted(status.target)}`;
  }
  return `to see more: plugboard status ${shellWord(name)}`;
}

/** How to get the programs that start most servers. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ["node", "Node.js from https://nodejs.org"],
  ["npx", "Node.js from https://nodejs.org"],
  ["npm", "Node.js from https://nodejs.org"],
  ["uv", "uv as https://docs.astral.sh/uv says"],
  ["uvx", "uv as https://docs.astral.sh/uv says"],
  ["python", "Python from https://www.python.org"],
  ["python3", "Python from https://www.python.org"],
  ["docker", "Docker as https://docs.docker.com/get-docker says"],
  ["bun", "Bun as https://bun.sh says"],
  ["bunx", "Bun as https://bun.sh says"],
  ["deno", "Deno as https://deno.com says"],
]);

/** A server that does not answer hangs, waits for somebody, or is still being downloaded. */
function timeoutRemedy({ definition, entry, status, package: run }: Examined): string {
  const isNew = run?.wasCached === false;
  const why = isNew
    ? `${run.runner} may still have been downloading ${run.spec}; run it once by hand, until it waits for input:`
    : "run it by hand to see what it waits for:";
  return [
    why,
    `  ${byHand(definition, status.target)}`,
    `if it only needs longer, write "timeout": ${definition.timeout * (isNew ? 4 : 2)} into ${entry}`,
  ].join("\n");
}

/** The command line for a shell. Where a credential is hidden in it, it cannot be quoted word by word. */
function byHand({ target }: ServerDefinition, shown: string): string {
  if (target.kind !== "stdio") return shown;
  const words = [target.command, ...target.args];
  return words.join(" ") === shown ? words.map(shellQuoted).join(" ") : shown;
}
