// Connects a session's board to the user at the editor: answers what comes up in the session's calls, and adds the
// editor's files and terminals as tools.

import type { SessionOptions } from "../../../core/types/board-options.ts";
import { SESSION_RATE_LIMIT } from "../../../core/types/server-definition.ts";
import type { Clock } from "../../../util/clock.ts";
import { editorTools } from "../editor/editor-tools.ts";
import { Workspace } from "../editor/workspace.ts";
import { elicitationPrompt } from "../questions/elicitation.ts";
import { permissionPrompt } from "../questions/permission.ts";
import { notifyOnce, type QuestionContext } from "../questions/question-context.ts";
import { samplingPrompt } from "../questions/sampling.ts";
import type { Responder } from "../responder/responder.ts";
import type { AcpClient } from "../wire/client.ts";
import type { SessionOutput } from "./session-output.ts";
import type { Mode } from "./settings.ts";

export type BoardSetup = Required<
  Pick<SessionOptions, "id" | "cwd" | "additionalDirectories" | "servers">
>;

/** What changes while a session is open, and decides how its questions are answered. */
export interface SessionState {
  mode: Mode;
  /** Aborts when the prompt is cancelled. Undefined between prompts. */
  promptSignal?: AbortSignal;
}

interface HandlerContext {
  client: AcpClient;
  clock: Clock;
  responder: Responder | undefined;
  output: SessionOutput;
  state: SessionState;
}

export function withHandlers(
  setup: BoardSetup,
  { client, clock, responder, output, state }: HandlerContext,
): SessionOptions {
  // The client knows a call before it is asked about it.
  const asked: QuestionContext["client"] = {
    capabilities: () => client.capabilities(),
    request: async (method, params, signal) => {
      await output.settled();
      return client.request(method, params, signal);
    },
    completeElicitation: (params) => client.completeElicitation(params),
  };
  const { id: sessionId, cwd, additionalDirectories } = setup;
  const promptSignal = () => state.promptSignal;
  const questions: QuestionContext = {
    sessionId,
    client: asked,
    isAutomatic: () => state.mode === "auto",
    promptSignal,
    notify: notifyOnce({ promptSignal, notify: (text) => output.notify(text) }),
    emit: (update) => output.emit(update),
  };
  const workspace = new Workspace(cwd, [cwd, ...additionalDirectories]);
  const editor = editorTools({ sessionId, client, workspace, display: output, clock });
  return {
    ...setup,
    rateLimit: SESSION_RATE_LIMIT,
    native: editor.native,
    onApproval: permissionPrompt({
      ...questions,
      ...editor,
      cwd,
      client: {
        request: async (method, params, signal) =>
          asked.request(method, await output.withoutSecrets(params), signal),
      },
    }),
    onElicitation: elicitationPrompt(questions),
    onSampling: samplingPrompt(questions, responder?.sampling),
  };
}
