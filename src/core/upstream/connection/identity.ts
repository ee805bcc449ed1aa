// Who a server says it is: cleaned and cut, so that we can show it and put it into a prompt.

import type { ServerIdentity } from "../../types/connection.ts";
import { isJsonObject, objectIn } from "../../types/json.ts";
import { oneLine, plainText, truncate } from "../../../util/text.ts";
import { hasInvisible } from "../lists/text-cleaner.ts";
import type { RedactText } from "../../process/stderr-log.ts";
import { type Handshake, infoOf } from "./handshake.ts";

/** In characters. Instructions end up in prompts and in the cache. */
const MAX_INSTRUCTIONS = 64 * 1024;

export function readIdentity(handshake: Handshake, redact: RedactText): ServerIdentity {
  const info = infoOf(handshake);
  const instructions = instructionsOf(handshake);
  return {
    era: handshake.era,
    protocolVersion: handshake.protocolVersion,
    capabilities: capabilitiesOf(handshake),
    ...(handshake.isEraDoubtful && { isEraDoubtful: true }),
    ...(info !== undefined && {
      name: oneLine(redact(plainText(info.name)), 100),
      version: oneLine(redact(plainText(info.version)), 50),
    }),
    ...(instructions !== undefined && {
      instructions: truncate(
        redact(plainText(instructions), instructions.length === MAX_INSTRUCTIONS * 2),
        MAX_INSTRUCTIONS,
      ),
    }),
  };
}

/** The handshake has kept those that the protocol has, and of each the switches that are on. */
function capabilitiesOf({ statement: { capabilities } }: Handshake): string[] {
  if (!isJsonObject(capabilities)) return [];
  return Object.entries(capabilities).flatMap(([name, switches]) => [
    name,
    ...Object.keys(objectIn(switches)).map((each) => `${name}.${each}`),
  ]);
}

/** Where invisible characters were removed, as the end of a sentence; undefined if there were none. */
export function hiddenIn(handshake: Handshake): string | undefined {
  const info = infoOf(handshake);
  const places = [
    ...(hasInvisible(`${info?.name ?? ""}${info?.version ?? ""}`) ? ["name"] : []),
    ...(hasInvisible(instructionsOf(handshake) ?? "") ? ["instructions"] : []),
  ];
  return places.length === 0 ? undefined : places.join(" and ");
}

/** Cut to twice the limit: that bounds the work, and leaves room for what is removed later. */
function instructionsOf({ statement: { instructions } }: Handshake): string | undefined {
  return typeof instructions === "string" ? instructions.slice(0, MAX_INSTRUCTIONS * 2) : undefined;
}
