// What a session asks of the board it is laid over: its servers, and who answers what comes up in its calls.

import { AsyncLocalStorage } from "node:async_hooks";
import { methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import type { Clock } from "../../../util/clock.ts";
import { CallDisplay } from "../calls/display.ts";
import { editorTools } from "../editor/editor-tools.ts";
import { Workspace } from "../editor/workspace.ts";
import { type Asking, tellOnce } from "../questions/question-context.ts";
import { elicitationPrompt } from "../questions/elicitation.ts";
import type { SessionRecord } from "../history/record.ts";
import type { Mode } from "./mode.ts";
import { Outlet } from "./session-output.ts";
import type { Peer } from "../wire/peer.ts";
import { permissionPrompt } from "../questions/permission.ts";
import type { Responder, SessionRequest } from "../responder/responder.ts";
import { samplingPrompt } from "../questions/sampling.ts";

export type BareRequest = Pick<SessionRequest, "id" | "cwd" | "roots" | "servers">;

/** What the board's questions need to know of the session it belongs to. */
export interface Shared {
  mode: Mode;
  /** Of the prompt that is being answered; undefined between prompts. */
  turn?: AbortSignal | undefined;
  /** The id of the call that the code is part of: questions come from deep inside it. */
  calling: AsyncLocalStorage<string>;
  display: CallDisplay;
  outlet: Outlet;
}

export interface HandlerContext {
  peer: Peer;
  clock: Clock;
  responder: Responder | undefined;
  record: SessionRecord | undefined;
}

interface SharedSetup extends Pick<BareRequest, "id" | "cwd" | "roots"> {
  mode: Mode;
  hasTitle: boolean;
}

export function sharedBy(
  { id: sessionId, cwd, roots, mode, hasTitle }: SharedSetup,
  { peer, clock, record }: Pick<HandlerContext, "peer" | "clock" | "record">,
): Shared {
  const calling = new AsyncLocalStorage<string>();
  const send = (update: SessionUpdate): void => void peer.update(sessionId, update);
  const display = new CallDisplay({ cwd, roots, calling, send });
  const outlet = new Outlet({ sessionId, peer, clock, record, display, hasTitle });
  return { mode, calling, display, outlet };
}

export function withHandlers(
  request: BareRequest,
  shared: Shared,
  { peer, clock, responder }: HandlerContext,
): SessionRequest {
  const session = {
    sessionId: request.id,
    peer,
    mode: () => shared.mode,
    turn: () => shared.turn,
    toolCallId: () => shared.calling.getStore(),
  };
  const workspace = new Workspace(request.cwd, request.roots);
  const editor = editorTools({ ...session, workspace, display: shared.display, clock });
  const asking: Asking = {
    ...session,
    tell: tellOnce(session.turn, (text) => shared.outlet.notify(text)),
    emit: (update) => shared.outlet.emit(update),
  };
  const onApproval = permissionPrompt({
    ...session,
    cwd: request.cwd,
    preview: (question, signal) => editor.preview(question, signal),
    request: (params, signal) =>
      peer.request(methods.client.session.requestPermission, params, signal),
  });
  const onElicitation = elicitationPrompt(asking);
  const onSampling = samplingPrompt(asking, responder?.sampling);
  return { ...request, onApproval, onElicitation, onSampling, native: editor.native };
}
