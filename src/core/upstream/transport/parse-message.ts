// Parses what a server has sent, unless it has so many values that parsing and checking them would hold up everybody
// else. One long text is no such thing: it costs next to nothing.

import { PlugboardError } from "../../types/errors.ts";
import { hasMoreValuesThan } from "../../../util/measure-json.ts";

/** Far more than a list of a thousand tools has. */
const LEAST_VALUES = 250_000;
const BYTES_PER_VALUE = 256;

/**
 * Throws MESSAGE_TOO_LARGE for too many values, and a SyntaxError for what is not JSON. Depth has no bound here: each level is a
 * value too, and what uses an answer says better what is wrong with a deep one.
 */
export function parseMessage(text: string, maxMessageBytes: number): unknown {
  const most = Math.max(LEAST_VALUES, Math.floor(maxMessageBytes / BYTES_PER_VALUE));
  if (hasMoreValuesThan(most, text)) throw tooManyValues(most);
  return JSON.parse(text);
}

function tooManyValues(most: number): PlugboardError {
  return new PlugboardError(
    "MESSAGE_TOO_LARGE",
    `the server sent a message of more than ${most} values`,
    {
      quote: "",
      hint: `ask it for less at a time, or raise "maxMessageBytes" for this server: it allows a value for every ${BYTES_PER_VALUE} bytes`,
    },
  );
}
