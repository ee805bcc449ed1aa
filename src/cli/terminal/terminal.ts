// What stdout and stderr can show: whether a person reads along, their width, colours and symbols.

import type { CliIo, CliOutput } from "../io.ts";

export interface Terminal {
  out: OutputView;
  err: OutputView;
  /** Whether stderr can show rows that redraw themselves. */
  live: boolean;
  /** Whether symbols beyond ASCII display correctly. */
  unicode: boolean;
}

export interface OutputView {
  isTerminal: boolean;
  /** Undefined where no screen limits it: then nothing is cut. */
  width: number | undefined;
  paint: Paint;
}

export type Tone = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export type Paint = (tone: Tone, text: string) => string;

const DEFAULT_WIDTH = 80;

const COLOR_CODES: Readonly<Record<Tone, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export function describeTerminal(
  { stdout, stderr, env }: Pick<CliIo, "stdout" | "stderr" | "env">,
  wantsColor = true,
): Terminal {
  const dumb = env["TERM"] === "dumb";
  const view = (output: CliOutput): OutputView => {
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
    // The font of the Linux console lacks these symbols.
    unicode: !dumb && env["TERM"] !== "linux",
  };
}

export function painter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (tone, text) => {
    const [on, off] = COLOR_CODES[tone];
    return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

/** `NO_COLOR` wins over `FORCE_COLOR`, which wins over what the output can do. */
function hasColor(env: CliIo["env"], capable: boolean): boolean {
  if (isSet(env["NO_COLOR"])) return false;
  const forced = env["FORCE_COLOR"];
  if (forced === "0" || forced === "false") return false;
  return forced !== undefined || capable;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
