// Notices that a starting server asks a person something, such as npx before it installs. Nobody can answer: stdin
// carries the protocol. Without this the start would wait for its whole timeout.

import { StringDecoder } from "node:string_decoder";
import type { Readable } from "node:stream";
import type { Clock, Timer } from "../../../util/clock.ts";
import { plainText } from "../../../util/text.ts";
import { findQuestion } from "./find-cause.ts";

/** A question is followed by silence; text that only looks like one goes on. */
const SILENCE_MS = 300;
const MAX_LINE = 1000;

export interface Question {
  text: string;
  remedy: string;
}

/** Calls `onQuestion` at most once. Returns a function that ends the watch. */
export function watchForQuestion(
  outputs: readonly Readable[],
  clock: Clock,
  onQuestion: (question: Question) => void,
): () => void {
  const ends = outputs.map((output) => {
    const decoder = new StringDecoder("utf8");
    let timer: Timer | undefined;
    let open = "";
    const read = (chunk: Buffer): void => {
      timer?.cancel();
      const lines = `${open}${decoder.write(chunk)}`.split("\n");
      // A line with one character more than the longest question is not a question.
      open = (lines.at(-1) ?? "").slice(0, MAX_LINE + 1);
      const isOpen = open.trim() !== "";
      const text = plainText(isOpen ? open : (lines.at(-2) ?? ""));
      const found = isMessage(text) ? undefined : findQuestion(text, isOpen);
      if (found === undefined) return;
      timer = clock.after(SILENCE_MS, () => {
        end();
        onQuestion({ text, ...found });
      });
    };
    output.on("data", read);
    return () => {
      timer?.cancel();
      output.off("data", read);
    };
  });
  const end = (): void => ends.forEach((each) => each());
  return end;
}

/** A message of the protocol may come in parts, and a part may end like a question. */
function isMessage(text: string): boolean {
  return text.length > MAX_LINE || /^\s*(?:\{|\[\s*\{)/.test(text);
}
