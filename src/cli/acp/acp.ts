// `plugboard acp`: runs an ACP agent over this agent's board on stdio, until the editor disconnects.

import { join } from "node:path";
import { Readable } from "node:stream";
import { plugboardHome } from "../../core/config/home.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import {
  type AuthorizationRequest,
  type OnAuthorization,
  signInHint,
} from "../../core/types/authorization.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { modelResponder } from "../../agent/acp/responder/model-responder.ts";
import { refuseAcp } from "../../agent/acp/refuse.ts";
import { serveAcp } from "../../agent/acp/serve.ts";
import { describeOutcomes, signInToAll } from "../../agent/acp/sign-in.ts";
import { outputStream } from "../../agent/acp/wire/stdio.ts";
import { claimStdout } from "../claim-stdout.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { keyReader, modelKeys } from "../given-keys.ts";
import { offeredCommand } from "../offered-command.ts";
import { openBrowser } from "../terminal/browser.ts";
import { showPage } from "../login/login.ts";
import { withBoard } from "../open.ts";
import { AgentModels } from "./agent-models.ts";
import { type AcpRequest, isFront, SIGN_IN } from "./command.ts";
import { isOwner, openConfig, openEditorBoard } from "./editor-board.ts";
import { findLoginPath } from "../login-path.ts";
import { signInToModel } from "./model-key.ts";

const FOR_EDITORS =
  "This command is for editors that speak the Agent Client Protocol: they start it and talk to it here. " +
  "Press Ctrl-C to stop. To ask the same agent yourself: plugboard ask";

export async function runAcp(command: AcpRequest, context: CliContext): Promise<number> {
  if (command.signIn === "model") return signInToModel(context);
  if (command.signIn === "servers") return signInHere(context);
  if (isFront(command)) return (await import("./front.ts")).runAcpFront(command, context);
  const { io, logger, clock, signal, options, screen } = context;
  const output = outputStream(claimStdout(io.stdout, io.stderr));
  const stdin = io.stdin as Readable;
  if (io.stdin.isTTY) screen.note(FOR_EDITORS);
  const ending = new AbortController();
  // Starts at once; only servers that are programs wait for it.
  const programPath = findLoginPath({ env: io.env, clock, logger, signal: ending.signal });
  try {
    await using config = await openConfig(context, (error) =>
      refuseAcp(error, { input: stdin, output, clock, signal }),
    );
    const agent = await config.readAgent();
    // Beside the board: a search for Ollama must not delay the servers.
    await using models = new AgentModels(agent, command.model, context, programPath);
    await using board = await openEditorBoard(agent, config, context, {
      programPath,
      startsAgain: MODEL_SETTINGS,
    });
    const stateDir = plugboardHome(io.env, io.homedir);
    const found = await models.current();
    // After the editor's first request, which waits for nothing of this.
    setImmediate(() => void found?.models.loadCode().catch(() => {}));
    const { systemPrompt, maxSteps } = agent;
    const owner = isOwner(agent, options);
    const storedKeys = keyReader(context);
    await serveAcp({
      input: Readable.toWeb(stdin) as ReadableStream<Uint8Array>,
      output,
      openSession: (request) => board.openSession({ ...request, owner, approval: "ask" }),
      newResponder: async (past, settings) => {
        const current = await models.current();
        const answering = current && { ...current, systemPrompt, maxSteps, clock };
        return answering && modelResponder(past, answering, settings);
      },
      signIn: {
        board,
        onAuthorization: (request) => openPage(request, context),
        models,
        terminalArgs: { servers: [SIGN_IN], model: [SIGN_IN, "model"] },
        modelCommand: offeredCommand(MODEL_COMMAND, options),
      },
      modelAdvice: modelAdvice(agent, stateDir),
      historyDir: join(stateDir, "sessions"),
      secrets: async () => [...models.secrets, ...(await storedKeys())],
      mcpOverAcp: command.mcpOverAcp ?? false,
      signal,
      clock,
      logger,
    });
    return EXIT.ok;
  } finally {
    ending.abort();
    // An editor that keeps the pipe open would otherwise keep the process alive.
    stdin.destroy();
  }
}

const MODEL_COMMAND = `acp ${SIGN_IN} model`;

/** Signs in as `plugboard login` does, to every server that asks for it. */
function signInHere(context: CliContext): Promise<number> {
  const { screen, signal } = context;
  return withBoard(context, { start: "eager" }, async ({ board }) => {
    const onAuthorization: OnAuthorization = (request) => showPage(request, true, context);
    const outcomes = await signInToAll({ board, onAuthorization }, signal);
    screen.lines([describeOutcomes(outcomes)]);
    for (const provider of (await modelKeys(context).read()).keys()) {
      const command = offeredCommand(MODEL_COMMAND, context.options);
      screen.note(`a key for ${provider} is stored; to replace or forget it: ${command}`);
    }
    const isDone = outcomes.every(({ problem }) => problem === undefined);
    return isDone ? EXIT.ok : EXIT.unavailable;
  });
}

/** The editor shows nothing during `authenticate`, so without a browser nobody would see the page. */
async function openPage(
  { url, server }: AuthorizationRequest,
  { io, screen }: CliContext,
): Promise<void> {
  if (!(await openBrowser(url, io.env))) {
    throw new PlugboardError("UNSUPPORTED", "no browser could be opened", {
      server,
      hint: signInHint(server),
    });
  }
  screen.note(`Opening a browser to sign in to ${server}. If none opens, go to:`);
  screen.note(`  ${url}`);
}

/** What the agent loop is started with. */
const MODEL_SETTINGS = [
  "model",
  "models",
  "systemPrompt",
  "maxSteps",
  "modelNotice",
  "modelTimeout",
  "modelProviders",
] as const satisfies readonly (keyof AgentConfig)[];

/** Tells the person how to configure a model. */
function modelAdvice({ file, untrusted }: AgentConfig, home: string): string {
  const unused = untrusted?.find((each) => each.file === file && !each.inUse);
  if (unused !== undefined) return `The configuration is not used: ${unused.remedy}`;
  const example = '"model": "ollama/qwen3"';
  const where =
    file === undefined
      ? `put \`{ "agents": { "defaults": { ${example} } } }\` into ${join(home, "plugboard.json")}`
      : `set \`${example}\` in agents.defaults of ${file}`;
  return `To get answers, run \`plugboard ${MODEL_COMMAND}\` in a terminal or start Ollama, and open a new session; or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for the agent, or ${where}, and restart the agent.`;
}
