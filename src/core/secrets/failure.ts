// Failures of services and programs that give secrets: whether they may pass, and what the service itself says.

import type { ErrorDetails, PlugboardError } from "../types/errors.ts";
import { secretUnavailable } from "../types/secret-provider.ts";
import { oneLine } from "../../util/text.ts";

const LONGEST_WORDS = 300;

/** A cause that may pass by itself. */
export function passing(message: string, details: ErrorDetails = {}): PlugboardError {
  return secretUnavailable(message, { ...details, permanent: false });
}

/** A failure in the words of the service or the program. Only for words that never repeat a value. */
export function said(message: string, words: string, details: ErrorDetails = {}): PlugboardError {
  const quote = oneLine(words, LONGEST_WORDS);
  return secretUnavailable(quote === "" ? message : `${message}: ${quote}`, { quote, ...details });
}
