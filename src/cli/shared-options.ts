// Options that several commands have, and what they mean for each of them; and how numbers among their values are read.

import type { Option, ReadValue } from "./option.ts";

export const YES = {
  kind: "flag",
  name: "--yes",
  about: "do not ask",
} as const satisfies Option;

/** For the overview of all servers. */
export const CHECK = {
  kind: "flag",
  name: "--check",
  about: "wait for every server, and exit with 3 if one has failed or needs you to sign in",
} as const satisfies Option;

/** For the overview of all servers. */
export const REFRESH = {
  kind: "flag",
  name: "--refresh",
  about: "start every server and ask it, instead of showing what an earlier run knows",
} as const satisfies Option;

export const SCOPE = {
  kind: "value",
  name: "--scope",
  short: "-s",
  value: "scope",
  about: "which file: the one in this directory, or yours; by default the one in use",
  choices: ["project", "user", "local"],
  hint: "project is plugboard.json in this directory, and user or local the one in Plugboard's home",
} as const satisfies Option;

export const ONLY_SERVER = {
  kind: "value",
  name: "--server",
  value: "server",
  about: "only this server; no other is started",
  offers: "server",
} as const satisfies Option;

export const SAVE_BINARY = {
  kind: "value",
  name: "--output",
  value: "directory",
  about: "save images, audio and other binary content there",
  offers: "directory",
} as const satisfies Option;

/** Reads a whole number in these bounds. */
export function wholeNumber(
  least: number,
  most: number,
  expected: string,
): (text: string) => ReadValue<number> {
  return (text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= least && value <= most ? { value } : { expected };
  };
}
