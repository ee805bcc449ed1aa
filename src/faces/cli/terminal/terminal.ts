// What the outputs can show: whether a person reads along, how wide it is, colour and symbols.

import type { CliIo, Output } from "../io.ts";
import { type Paint, painter } from "./paint.ts";

export interface Terminal {
  out: OutputView;
  err: OutputView;
  /** Rows that redraw themselves may be shown on stderr. */
  live: boolean;
  /** Symbols beyond ASCII come out right. */
  unicode: boolean;
}

export interface OutputView {
  isTerminal: boolean;
  /** Undefined where nobody's screen limits it: then nothing is cut. */
  width: number | undefined;
  paint: Paint;
}

const DEFAULT_WIDTH = 80;

export function describeTerminal(
  { stdout, stderr, env }: Pick<CliIo, "stdout" | "stderr" | "env">,
  wantsColor = true,
): Terminal {
  const dumb = env["TERM"] === "dumb";
  const view = (output: Output): OutputView => {
    const isTerminal = output.isTTY === true;
    return {
      isTerminal,
      width: isTerminal ? output.columns || DEFAULT_WIDTH : undefined,
      paint: painter(wantsColor && hasColor(env, isTerminal && !dumb)),
    };
  };
  return {
    out: view(stdout),
    err: view(stderr),
    live: stderr.isTTY === true && !dumb && !isSet(env["CI"]),
    // The Linux console's font has no such glyphs.
    unicode: !dumb && env["TERM"] !== "linux",
  };
}

/** `NO_COLOR` wins over `FORCE_COLOR`, that over what the output is. */
function hasColor(env: CliIo["env"], capable: boolean): boolean {
  if (isSet(env["NO_COLOR"])) return false;
  const forced = env["FORCE_COLOR"];
  if (forced === "0" || forced === "false") return false;
  return forced !== undefined || capable;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
