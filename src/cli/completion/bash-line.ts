// A line as bash has it: its words, and what bash would insert for a candidate. Bash hands over the text as it was typed,
// and inserts what it is given as it is, so whatever a shell would expand is quoted here.

export interface BashLine {
  /** The words after the name of the program, as the program would get them. The last one is being typed. */
  words: string[];
  /** The word that is being typed is the file of a redirection. */
  isRedirected: boolean;
  /** What bash inserts if this is the whole word; undefined if it cannot be written there. */
  toInsert: (word: string) => string | undefined;
}

type Quote = "'" | '"' | "$'";

/** `line` ends where the cursor is. `breaks` are the characters at which bash begins a new word, for completion alone. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let word = "";
  let isWord = false;
  let isRedirected = false;
  let quote: Quote | undefined;
  /** How much of the word bash leaves as it is. */
  let kept = 0;
  const end = (): void => {
    if (isWord && !isRedirected) words.push(word);
    if (isWord) isRedirected = false;
    word = "";
    isWord = false;
    kept = 0;
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? "";
    const next = line[at + 1];
    if (quote !== undefined) {
      const isEscape: boolean =
        character === "\\" &&
        next !== undefined &&
        (quote === "$'" || (quote === '"' && '$`"\\\n'.includes(next)));
      if (isEscape) {
        word += next;
        at += 1;
      } else if (character === quote.at(-1)) {
        quote = undefined;
      } else {
        word += character;
      }
      continue;
    }
    if (character === "\\") {
      isWord = true;
      word += next === "\n" ? "" : (next ?? "");
      at += 1;
    } else if (character === "'" || character === '"') {
      // After `$`, which is not part of the word then.
      const isDollar = line[at - 1] === "$" && word.endsWith("$");
      if (isDollar) word = word.slice(0, -1);
      quote = isDollar && character === "'" ? "$'" : character;
      isWord = true;
      kept = word.length;
    } else if (/\s/.test(character)) {
      end();
    } else if (character === "<" || character === ">") {
      // `2>` is no word.
      if (/^\d*$/.test(word)) isWord = false;
      end();
      isRedirected = true;
    } else {
      isWord = true;
      word += character;
      if (breaks.includes(character)) kept = word.length;
    }
  }
  return {
    words: [...words.slice(1), word],
    isRedirected,
    toInsert: (whole) => {
      const quoted = quotedFor(quote, whole.slice(kept));
      // Bash ends a quote itself.
      const isOpen = quote !== undefined || /[=/]$/.test(whole);
      return quoted === undefined || isOpen ? quoted : `${quoted} `;
    },
  };
}

function quotedFor(quote: Quote | undefined, text: string): string | undefined {
  switch (quote) {
    case "'":
      return text.replaceAll("'", "'\\''");
    case '"':
      // A shell that expands `!` does so even here, and nothing keeps it from that.
      return text.includes("!") ? undefined : text.replaceAll(/[$`"\\]/g, "\\$&");
    case "$'":
      return undefined;
    case undefined:
      // Letters of other scripts mean nothing to a shell.
      return text.replaceAll(/[^\w./:=@%+,\u0080-\u{10ffff}-]/gu, "\\$&");
  }
}
