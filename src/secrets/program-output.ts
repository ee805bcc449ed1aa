// The output of a program that gives secrets, or the error that says why there is none.

import type { PlugboardError } from "../model/errors.ts";
import { type ProgramResult, secretUnavailable } from "../model/secret-provider.ts";
import { byteSize, duration } from "../util/text.ts";

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
    case "too-late": {
      const message = `${program} did not answer within ${duration(result.ms)}`;
      throw secretUnavailable(message, { permanent: false });
    }
    case "too-large":
      throw secretUnavailable(`${program} printed more than ${byteSize(result.bytes)}`);
  }
}
