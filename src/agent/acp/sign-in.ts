// What an ACP client can offer as authentication: signing in to the agent's own servers that ask for it, giving a key for
// a model, and taking both back. No session requires it.

import {
  type AuthenticateResponse,
  type AuthMethod,
  type LogoutResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import {
  describeSignOut,
  type OnAuthorization,
  type SignOutOutcome,
} from "../../core/types/authorization.ts";
import type { Board } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { untilAborted } from "../../util/abort.ts";
import { errorMessage } from "../../util/error-message.ts";
import { invalidParams } from "./wire/params.ts";

export interface SignInOptions {
  board: Pick<Board, "status" | "on" | "signIn" | "signOut">;
  /** Shows the person a sign-in page. */
  onAuthorization: OnAuthorization;
  models: {
    /** Whether prompts can be answered. */
    canAnswer: () => Promise<boolean>;
    /** Resolves to the providers whose key was there. */
    forgetKeys: () => Promise<string[]>;
  };
  /** What a terminal appends to the command of the agent in order to sign in there. */
  terminalArgs: { servers: readonly string[]; model: readonly string[] };
  /** What a person types in a terminal to give a key for a model. */
  modelCommand: string;
}

/** How the sign-in to one server went. */
export interface SignInOutcome {
  server: string;
  /** Absent if the server is ready. */
  problem?: string;
}

const IN_BROWSER = "sign-in";
const MODEL_KEY = "model-key";

export function authMethods(
  { terminalArgs }: SignInOptions,
  { hasTerminal }: { hasTerminal: boolean },
): AuthMethod[] {
  const description = "Signs in to the configured MCP servers that ask for it.";
  const inBrowser = {
    // The schema takes a method without a type for one of the agent; the registry wants to read it.
    type: "agent",
    id: IN_BROWSER,
    name: "Sign in to servers",
    description: `${description} Opens your browser. Optional: a session works without it.`,
  };
  const modelKey = {
    name: "Give a key for a model",
    description:
      "Keeps the API key of a model provider on this machine. Optional: commands work without a model.",
  };
  // A form must not ask for a secret, so without a terminal the person is told what to run.
  if (!hasTerminal) return [inBrowser, { type: "agent", id: MODEL_KEY, ...modelKey }];
  const inTerminal = {
    type: "terminal" as const,
    id: "sign-in-terminal",
    name: "Sign in to servers in a terminal",
    description: `${description} Also works where the browser is on another machine.`,
    args: [...terminalArgs.servers],
  };
  const modelKeyInTerminal = {
    type: "terminal" as const,
    id: "model-key-terminal",
    ...modelKey,
    args: [...terminalArgs.model],
  };
  return [inBrowser, inTerminal, modelKeyInTerminal];
}

/** Answers `authenticate`. Rejects if the person is still not signed in. */
export async function authenticate(
  methodId: string,
  options: SignInOptions,
  signal: AbortSignal,
): Promise<AuthenticateResponse> {
  if (methodId === MODEL_KEY) return checkModel(options);
  if (methodId !== IN_BROWSER) {
    throw invalidParams("methodId", `expected '${IN_BROWSER}' or '${MODEL_KEY}'`);
  }
  const outcomes = await signInToAll(options, signal).catch((error: unknown) => {
    throw signal.aborted ? RequestError.requestCancelled() : error;
  });
  const message = describeOutcomes(outcomes);
  if (outcomes.some(({ problem }) => problem !== undefined)) {
    throw RequestError.internalError({ servers: outcomes }, message);
  }
  return { _meta: { plugboard: { message, servers: outcomes } } };
}

async function checkModel({ models, modelCommand }: SignInOptions): Promise<AuthenticateResponse> {
  if (await models.canAnswer()) return { _meta: { plugboard: { message: "there is a model" } } };
  const message = `a key is typed in a terminal, where nobody else sees it; run: ${modelCommand}`;
  throw RequestError.internalError({ command: modelCommand }, message);
}

/**
 * Signs in to one server after another, so that the person sees one page at a time. Rejects only if the signal aborts.
 */
export async function signInToAll(
  { board, onAuthorization }: Pick<SignInOptions, "board" | "onAuthorization">,
  signal: AbortSignal,
): Promise<SignInOutcome[]> {
  const outcomes: SignInOutcome[] = [];
  for (const { name } of await serversThatAsk(board, signal)) {
    outcomes.push(await signInTo(name));
  }
  return outcomes;

  async function signInTo(server: string): Promise<SignInOutcome> {
    try {
      const { state } = await board.signIn(server, { onAuthorization, signal });
      if (state.kind === "ready") return { server };
      return { server, problem: `signed in, but the server is ${state.kind}` };
    } catch (error) {
      if (signal.aborted) throw error;
      const hint = error instanceof PlugboardError && error.hint ? `; ${error.hint}` : "";
      return { server, problem: `${errorMessage(error)}${hint}` };
    }
  }
}

export function describeOutcomes(outcomes: readonly SignInOutcome[]): string {
  if (outcomes.length === 0) return "no server asks for a sign-in";
  return outcomes
    .map(({ server, problem }) =>
      problem === undefined ? `signed in to ${server}` : `${server}: ${problem}`,
    )
    .join("\n");
}

/** How the sign-out of one server went. */
type LogoutOutcome = { server: string } & (
  | { outcome: Exclude<SignOutOutcome, "none"> }
  | { problem: string }
);

/** Answers `logout`. Sessions go on. Rejects if a login or a key could not be forgotten. */
export async function logout({
  board,
  models,
}: Pick<SignInOptions, "board" | "models">): Promise<LogoutResponse> {
  const signedOut = Promise.all(board.status().map(({ name }) => signOutOf(name)));
  const [servers, keys] = await Promise.all([signedOut.then((all) => all.flat()), forgetKeys()]);
  const said = [
    ...servers.map((each) =>
      "problem" in each
        ? `${each.server}: ${each.problem}`
        : describeSignOut(each.server, each.outcome),
    ),
    ...(Array.isArray(keys)
      ? keys.map((provider) => `the key for ${provider} is deleted`)
      : [`the keys for models: ${keys.problem}`]),
  ];
  const message = said.length === 0 ? "you are not signed in to anything" : said.join("\n");
  const told = { servers, modelKeys: keys };
  if ([...servers, keys].some((each) => "problem" in each)) {
    throw RequestError.internalError(told, message);
  }
  return { _meta: { plugboard: { message, ...told } } };

  function forgetKeys(): Promise<string[] | { problem: string }> {
    return models.forgetKeys().catch((error: unknown) => ({ problem: errorMessage(error) }));
  }

  async function signOutOf(server: string): Promise<LogoutOutcome[]> {
    try {
      const outcome = await board.signOut(server);
      return outcome === "none" ? [] : [{ server, outcome }];
    } catch (error) {
      // It is a program, or its configuration has its credentials.
      if (error instanceof PlugboardError && error.code === "UNSUPPORTED") return [];
      return [{ server, problem: errorMessage(error) }];
    }
  }
}

/** Whether a server asks for a sign-in is known when it has been tried. */
async function serversThatAsk(
  board: SignInOptions["board"],
  signal: AbortSignal,
): Promise<ServerStatus[]> {
  const isUnderWay = (): boolean =>
    board
      .status()
      .some(({ transport, state }) => transport !== "stdio" && state.kind === "starting");
  let stop = (): void => {};
  const tried = new Promise<void>((resolve) => {
    const look = (): void => {
      if (!isUnderWay()) resolve();
    };
    stop = board.on("server", look);
    look();
  });
  try {
    await untilAborted(tried, signal, cancelled);
  } finally {
    stop();
  }
  return board.status().filter(({ state }) => state.kind === "needs-auth");
}

function cancelled(): PlugboardError {
  return new PlugboardError("CANCELLED", "the sign-in was cancelled");
}
