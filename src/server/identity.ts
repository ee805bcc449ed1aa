// Who a server says it is, as it may be shown and put into a prompt.

import type { ServerIdentity } from "../model/connection.ts";
import { oneLine, plainText, truncate } from "../util/text.ts";
import { hidesSomething } from "./clean-tool.ts";
import type { Handshake } from "./handshake.ts";

/** Characters; they end up in prompts and in the cache. */
const MAX_INSTRUCTIONS = 64 * 1024;

export interface ServerInfo {
  name: string;
  version: string;
}

export function readIdentity(
  handshake: Handshake,
  info: ServerInfo | undefined,
  redact: (text: string) => string,
): ServerIdentity {
  const instructions = instructionsOf(handshake);
  return {
    era: handshake.era,
    protocolVersion: handshake.protocolVersion,
    ...(info !== undefined && {
      name: redact(oneLine(info.name, 100)),
      version: redact(oneLine(info.version, 50)),
    }),
    ...(instructions !== undefined && {
      instructions: truncate(redact(plainText(instructions)), MAX_INSTRUCTIONS),
    }),
  };
}

/** What had to be removed from it, as the end of a sentence; undefined where nothing had. */
export function hiddenIn(handshake: Handshake, info: ServerInfo | undefined): string | undefined {
  const places = [
    ...(hidesSomething(`${info?.name ?? ""}${info?.version ?? ""}`) ? ["name"] : []),
    ...(hidesSomething(instructionsOf(handshake) ?? "") ? ["instructions"] : []),
  ];
  return places.length === 0 ? undefined : places.join(" and ");
}

/** Cut generously: the bound on the work, while what is removed does not count. */
function instructionsOf(handshake: Handshake): string | undefined {
  const said = handshake.era === "legacy" ? handshake.initialize : handshake.discover;
  return typeof said.instructions === "string"
    ? said.instructions.slice(0, MAX_INSTRUCTIONS * 2)
    : undefined;
}
