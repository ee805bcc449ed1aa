// `plugboard login` and `plugboard logout`: signs you in to a remote server, and out again.

import { createInterface } from "node:readline";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import { type AuthorizationRequest, describeSignOut } from "../../core/types/authorization.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { plural } from "../../util/text.ts";
import { openBrowser } from "../terminal/browser.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { type OpenedBoard, type OpenOptions, withBoard } from "../open.ts";
import { withSharedState } from "../shared-state.ts";
import type { LoginRequest, LogoutRequest } from "./command.ts";

export async function runLogin(
  { server: named, browser }: LoginRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options, signal } = context;
  const onAuthorization = (request: AuthorizationRequest): Promise<string | void> =>
    showPage(request, browser, context);
  const open = { start: "none", lists: false, server: named, onAuthorization } as const;
  return withSignIns(context, open, async ({ board, agent }) => {
    const server = named ?? onlyName(agent);
    refuseProgram(server, agent);
    signal.addEventListener("abort", () => void board.close(), { once: true });
    const status = await board.signIn(server);
    if (options.json) {
      screen.json({ server, signedIn: true, state: stateToJson(status.state) });
      return EXIT.ok;
    }
    const { state, tools } = status;
    screen.lines([
      state.kind === "ready"
        ? `signed in to ${server}: ${plural(tools, "tool")}`
        : `signed in to ${server}, but the server is ${state.kind}`,
    ]);
    return state.kind === "ready" ? EXIT.ok : EXIT.unavailable;
  });
}

export async function runLogout(
  { server: named }: LogoutRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const open = { start: "none", lists: false, server: named } as const;
  return withSignIns(context, open, async ({ board, agent }) => {
    const server = named ?? onlyName(agent);
    refuseProgram(server, agent);
    const outcome = await board.signOut(server);
    if (options.json) screen.json({ server, outcome });
    else screen.lines([describeSignOut(server, outcome)]);
    return EXIT.ok;
  });
}

/** A sign-in to a configured server is kept where all gateways of the configuration look for it; that to a typed URL is yours. */
async function withSignIns(
  context: CliContext,
  open: OpenOptions,
  use: (opened: OpenedBoard) => Promise<number>,
): Promise<number> {
  if (open.server === undefined) return withBoard(context, open, use);
  return withSharedState(context, (state) => withBoard(context, { ...open, state }, use));
}

/** The name that a typed URL has on its board, which has no other server. */
function onlyName({ servers }: AgentConfig): string {
  return servers[0]?.name ?? "";
}

/** Before anything is tried: naming a program here is a mistake, not a failure of the server. */
function refuseProgram(server: string, { servers }: AgentConfig): void {
  if (!servers.some(({ name, target }) => name === server && target.kind === "stdio")) return;
  const message = `'${server}' is a program, so there is nothing to sign in to`;
  const hint = "pass its credentials in env";
  throw new PlugboardError("INVALID_ARGUMENTS", message, { server, hint });
}

export async function showPage(
  { url, server, scope, signal }: AuthorizationRequest,
  browser: boolean,
  { io, screen }: CliContext,
): Promise<string | void> {
  const asked = scope === undefined ? "" : ` (scope: ${scope})`;
  signal.addEventListener("abort", screen.pauseLive(), { once: true });
  const opened = browser && (await openBrowser(url, io.env));
  screen.note(
    opened
      ? `Opening a browser to sign in to ${server}${asked}. If none opens, go to:`
      : `To sign in to ${server}${asked}, go to:`,
  );
  screen.note(`  ${url}`);
  if (!io.stdin.isTTY) return;
  // The browser may run on another machine: the redirect to localhost then does not reach this one.
  screen.note(
    "Waiting for the browser. If it ends on a page that does not load, paste its address here:",
  );
  return nextLine(io.stdin, signal);
}

async function nextLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | void> {
  const lines = createInterface({ input, terminal: false });
  try {
    return await new Promise<string | void>((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      lines.on("line", (line) => {
        const text = line.trim();
        if (URL.canParse(text)) resolve(text);
        else if (text !== "")
          reject(
            new PlugboardError("INVALID_ARGUMENTS", "what you pasted is not an address", {
              hint: "copy the whole address of the page, which begins with http",
            }),
          );
      });
    });
  } finally {
    lines.close();
  }
}
