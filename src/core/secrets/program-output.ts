// The output of a program that gives secrets, or the error that says why there is none.

import type { PlugboardError } from "../types/errors.ts";
import {
  type ProgramOptions,
  type ProgramResult,
  type RunProgram,
  secretUnavailable,
} from "../types/secret-provider.ts";
import { byteSize, duration } from "../../util/text.ts";
import { passing, said } from "./failure.ts";

type Exited = Extract<ProgramResult, { kind: "exited" }>;

export interface OutputOptions {
  /** The subject of the messages: "1Password's op". */
  program: string;
  /** What to do if the program is not there. */
  notFound: string;
  /** What to do if it is there and cannot be started. */
  notStarted?: string;
  /** The error for an exit code other than 0. */
  failed: (result: Exited) => PlugboardError;
}

export function requireOutput(result: ProgramResult, options: OutputOptions): Buffer {
  const { program, notFound, notStarted, failed } = options;
  switch (result.kind) {
    case "exited":
      if (result.code !== 0) throw failed(result);
      return result.stdout;
    case "not-found":
      throw secretUnavailable(`${program} is not there`, { hint: notFound });
    case "failed":
      throw secretUnavailable(`${program} cannot be started: ${result.reason}`, {
        hint: notStarted,
      });
    case "too-late":
      throw passing(`${program} did not answer within ${duration(result.ms)}`);
    case "too-large":
      throw secretUnavailable(`${program} printed more than ${byteSize(result.bytes)}`);
  }
}

export interface ToolOptions extends ProgramOptions {
  /** The words on stderr by which a failure is known that does not pass. The exit codes do not tell them apart. */
  permanent: RegExp;
}

/** What a cloud's command-line tool wrote to stdout. Undefined if there is no such program. */
export async function toolOutput(
  run: RunProgram,
  [program = "", ...args]: readonly string[],
  { permanent, ...options }: ToolOptions,
): Promise<string | undefined> {
  const result = await run(program, args, options);
  if (result.kind === "not-found") return undefined;
  const output = requireOutput(result, {
    program,
    notFound: "",
    failed: ({ stderr }) =>
      said(`${program} failed`, stderr, { permanent: permanent.test(stderr) }),
  });
  return output.toString("utf8");
}
