// Makes a text that a regular expression matches, for the expressions that people write for ids, dates and names:
// literals, classes, groups, alternatives and repetitions. It only builds an example, which is checked afterwards.

const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 200;
const DEEPEST = 20;
/** Whatever a class leaves out, it rarely leaves out all of these. */
const USUAL = ["a", "1", "A", "-", "_", " ", "."];

/** Undefined for an expression with anything else in it, or one that is long. */
export function textForPattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return undefined;
  const reader = new PatternReader(pattern);
  const text = reader.read();
  return text === undefined || text.length > LONGEST_TEXT ? undefined : text;
}

class PatternReader {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): string | undefined {
    const text = this.#alternatives();
    return this.#at === this.#pattern.length ? text : undefined;
  }

  /** The first alternative counts, the others are only skipped. */
  #alternatives(): string | undefined {
    this.#depth += 1;
    if (this.#depth > DEEPEST) return undefined;
    const first = this.#sequence();
    if (first === undefined) return undefined;
    while (this.#skip("|")) {
      if (this.#sequence() === undefined) return undefined;
    }
    this.#depth -= 1;
    return first;
  }

  #sequence(): string | undefined {
    let text = "";
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#next)) {
      const part = this.#part();
      if (part === undefined) return undefined;
      const times = this.#repetition();
      if (times === undefined || part.length * times > LONGEST_TEXT) return undefined;
      text += part.repeat(times);
      if (text.length > LONGEST_TEXT) return undefined;
    }
    return text;
  }

  #part(): string | undefined {
    const character = this.#take();
    switch (character) {
      case "^":
      case "$":
        return "";
      case ".":
        return "a";
      case "[":
        return this.#class();
      case "(": {
        if (this.#skip("?") && !this.#skip(":")) return undefined;
        const text = this.#alternatives();
        return this.#skip(")") ? text : undefined;
      }
      case "\\":
        return this.#escape(this.#take());
      default:
        return /[*+?{]/.test(character) ? undefined : character;
    }
  }

  #escape(character: string): string | undefined {
    const known: Readonly<Record<string, string>> = {
      d: "1",
      w: "a",
      s: " ",
      D: "a",
      S: "a",
      W: "-",
      b: "",
    };
    if (Object.hasOwn(known, character)) return known[character];
    return /^[A-Za-z0-9]?$/.test(character) ? undefined : character;
  }

  #class(): string | undefined {
    const isNegated = this.#skip("^");
    let body = "";
    while (this.#at < this.#pattern.length && this.#next !== "]") {
      const character = this.#take();
      body += character === "\\" ? character + this.#take() : character;
    }
    if (!this.#skip("]") || body === "") return undefined;
    const own = isNegated
      ? []
      : [body.startsWith("\\") ? (this.#escape(body[1] ?? "") ?? "") : (body[0] ?? "")];
    return [...USUAL, ...own].find((each) => each !== "" && matchesClass(each, body, isNegated));
  }

  /** The least number of times, but once where the part may be left out or repeated. */
  #repetition(): number | undefined {
    if (this.#skip("*") || this.#skip("+") || this.#skip("?")) {
      this.#skip("?");
      return 1;
    }
    if (this.#next !== "{") return 1;
    const [whole = "", least = "", most] =
      /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(this.#pattern.slice(this.#at)) ?? [];
    if (whole === "") return undefined;
    this.#at += whole.length;
    this.#skip("?");
    return Math.max(Number(least), most === undefined || most === "0" ? 0 : 1);
  }

  get #next(): string {
    return this.#pattern[this.#at] ?? "";
  }

  #take(): string {
    const character = this.#next;
    this.#at += 1;
    return character;
  }

  #skip(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += 1;
    return true;
  }
}

/** A class matches one character, so that it takes no longer than its length. */
function matchesClass(character: string, body: string, isNegated: boolean): boolean {
  try {
    return new RegExp(`^[${isNegated ? "^" : ""}${body}]$`).test(character);
  } catch {
    return false;
  }
}
