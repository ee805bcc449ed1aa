// A service of secrets that can be asked in two ways: through its library or API, and through its command-line program.
// The program is asked where the library cannot reach the service, because it may have other credentials or another way
// there.

import { cancelled, type PlugboardError, toPlugboardError } from "../types/errors.ts";
import { type ProviderSurroundings, secretUnavailable } from "../types/secret-provider.ts";
import { untilAborted } from "../../util/abort.ts";
import { within } from "../../util/clock.ts";

/** The program is asked too if the library has not answered by then: half of the time that a secret has. */
const PATIENCE_MS = 5000;

export interface TwoWays<Result> {
  /** Undefined if the library is not installed. */
  library: (signal: AbortSignal) => Promise<Result | undefined>;
  /** Undefined if there is no such program. */
  program: (signal: AbortSignal) => Promise<Result | undefined>;
  /** The service itself has refused, so the program would get the same answer. */
  hasAnswered: (error: unknown) => boolean;
  /** Makes an error of the library one for people. */
  explain?: (error: unknown) => unknown;
  /** Where neither is there. */
  missing: () => PlugboardError;
  names: { library: string; program: string };
}

type Ended<Result> = { result: Result | undefined } | { error: unknown };

/** Tells the operator if the program has answered in place of a library that is there. */
export async function eitherWay<Result>(
  ways: TwoWays<Result>,
  { clock, warn }: Pick<ProviderSurroundings, "clock" | "warn">,
  signal: AbortSignal,
): Promise<Result> {
  const { library, program, hasAnswered, missing, names } = ways;
  const { explain = (error: unknown) => error } = ways;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  try {
    const asked = ended(library(either));
    const first = await untilAborted(within(clock, PATIENCE_MS, asked), signal, cancelled);
    if (first !== undefined && "result" in first && first.result !== undefined) return first.result;
    if (first !== undefined && "error" in first && hasAnswered(first.error)) {
      throw explain(first.error);
    }
    const second = await ended(program(either));
    if ("result" in second && second.result !== undefined) {
      if (first === undefined || "error" in first) {
        warn(`${names.program} answered in place of ${names.library}: ${reason(first)}`);
      }
      return second.result;
    }
    const late = await untilAborted(asked, signal, cancelled);
    if ("result" in late) {
      if (late.result !== undefined) return late.result;
      throw "error" in second ? second.error : missing();
    }
    const failure = explain(late.error);
    throw "error" in second && !hasAnswered(late.error)
      ? bothFailed(failure, second.error)
      : failure;
  } finally {
    ending.abort();
  }

  function reason(first: { error: unknown } | undefined): string {
    if (first === undefined) return "it did not answer in time";
    return toPlugboardError(explain(first.error), "SECRET_UNAVAILABLE").message;
  }
}

async function ended<Result>(asked: Promise<Result | undefined>): Promise<Ended<Result>> {
  try {
    return { result: await asked };
  } catch (error) {
    return { error };
  }
}

/** The first has the hint: it is the way that is meant to work. */
function bothFailed(library: unknown, program: unknown): PlugboardError {
  const first = toPlugboardError(library, "SECRET_UNAVAILABLE");
  const second = toPlugboardError(program, "SECRET_UNAVAILABLE");
  // One program may be behind both.
  const isSame = first.message.includes(second.message);
  const message = isSame ? first.message : `${first.message}; ${second.message}`;
  return secretUnavailable(message, {
    quote: message,
    hint: first.hint ?? second.hint,
    permanent: first.permanent && second.permanent,
    cause: library,
  });
}
