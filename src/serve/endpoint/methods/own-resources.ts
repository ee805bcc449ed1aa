// What a board says about itself, as resources that are in no list: `plugboard://context` is the block of its servers'
// resources for a prompt, and `plugboard://status` is the state of its servers. A host that puts resources into prompts
// itself reads them, such as our plugin for OpenClaw.

import type { JsonObject } from "../../../core/types/json.ts";
import { stateForOthers, stateToJson } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import { oneLine } from "../../../util/text.ts";
import type { EndpointBoard, EndpointOptions } from "../context.ts";
import { type Answer, invalidParams } from "../message.ts";

// No resource of a server has such a URI: there is a slash behind the name of the server.
const CONTEXT = /^plugboard:\/\/context(?:\?maxBytes=(\d{1,9}))?$/;
const STATUS = "plugboard://status";
const ANY = /^plugboard:\/\/(?:context|status)(?:$|\?)/;

export function isOwnResource(uri: unknown): boolean {
  return typeof uri === "string" && ANY.test(uri);
}

interface OwnResourcesContext extends Pick<EndpointOptions, "isForOthers"> {
  board: Pick<EndpointBoard, "resources" | "status">;
}

/** Undefined for any other URI. */
export async function readOwnResource(
  uri: string,
  { board, isForOthers = false }: OwnResourcesContext,
): Promise<Answer | undefined> {
  if (!isOwnResource(uri)) return undefined;
  if (uri === STATUS) {
    return contents(
      uri,
      "application/json",
      JSON.stringify({ servers: board.status().map((status) => brief(status, isForOthers)) }),
    );
  }
  const asked = CONTEXT.exec(uri);
  if (asked === null) {
    return invalidParams(
      `${oneLine(uri, 500)} is not known; there are ${STATUS}, plugboard://context and plugboard://context?maxBytes=<number>`,
    );
  }
  const maxBytes = asked[1] === undefined ? undefined : Number(asked[1]);
  const text = await board.resources.context(maxBytes === undefined ? {} : { maxBytes });
  return contents(uri, "text/plain", text);
}

function contents(uri: string, mimeType: string, text: string): Answer {
  return { result: { contents: [{ uri, mimeType, text }] } };
}

/** What a client may know: not where a server runs, nor what it has written to its stderr. */
function brief(
  { name, state, tools, available, restarts }: ServerStatus,
  isForOthers: boolean,
): JsonObject {
  const { pid: _, ...shown } = isForOthers
    ? stateForOthers(state)
    : (stateToJson(state) as JsonObject);
  return { name, state: shown, tools, available, restarts };
}
