// What is noted about a call while somebody watches calls: its way through the stages, and what was redacted. Imports
// nothing, since the page of a gateway uses these types in a browser.

/** One half of a stage, or the call itself, in a call that somebody watches. */
export interface CallStep {
  stage: string;
  half: "before" | "call" | "after";
  /** Milliseconds after the call was made. */
  at: number;
  ms: number;
}

/** A text that secrets were taken out of. */
export interface RedactedPart {
  /** Such as `content[0].text`. */
  path: string;
  /** Where the secrets are from: references as they are written, or what else names the place. Never a value. */
  sources: string[];
}

/** What is noted about a call while somebody watches calls. */
export interface CallTimeline {
  /** In the order in which they ended. */
  readonly steps: CallStep[];
  /** In the answer. */
  redacted: readonly RedactedPart[];
}
