// Measures a text the way a reader would: by the characters, words and sentences a person sees.

export interface TextStatistics {
  /** What a reader takes for one character, however it is encoded. */
  characters: number;
  charactersWithoutSpaces: number;
  words: number;
  uniqueWords: number;
  sentences: number;
  paragraphs: number;
  lines: number;
  bytes: number;
  readingSeconds: number;
  topWords: { word: string; count: number }[];
}

export interface TextOptions {
  /** How many of the most frequent words to name. */
  top?: number;
  /** The average of silent reading, in English. */
  wordsPerMinute?: number;
}

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const WORDS = new Intl.Segmenter("en", { granularity: "word" });
const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

const TOP = 5;
const WORDS_PER_MINUTE = 238;

/** Words that are frequent in every English text and so say nothing about this one. */
const COMMON = new Set(
  (
    "a about after all also an and any are as at be because been but by can could do does for from had " +
    "has have he her his how i if in into is it its just may me more my no not of on one only or other " +
    "our out she should so some than that the their them then there these they this to up us was we " +
    "were what when which who will with would you your"
  ).split(" "),
);

/** Each segment that the runtime hands out carries a copy of the whole input, so the input is kept short. */
const PIECE_LENGTH = 1000;

export function measureText(
  text: string,
  { top = TOP, wordsPerMinute = WORDS_PER_MINUTE }: TextOptions = {},
): TextStatistics {
  let characters = 0;
  let spaces = 0;
  let words = 0;
  let sentences = 0;
  const counts = new Map<string, number>();
  for (const piece of piecesOf(text)) {
    for (const { segment } of GRAPHEMES.segment(piece)) {
      characters += 1;
      if (segment.trim() === "") spaces += 1;
    }
    for (const { segment, isWordLike } of WORDS.segment(piece)) {
      if (!isWordLike) continue;
      words += 1;
      const word = segment.toLowerCase();
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    for (const { segment } of SENTENCES.segment(piece)) {
      if (/[\p{L}\p{N}]/u.test(segment)) sentences += 1;
    }
  }
  return {
    characters,
    charactersWithoutSpaces: characters - spaces,
    words,
    uniqueWords: counts.size,
    sentences,
    paragraphs: text.split(/\n\s*\n/u).filter((paragraph) => paragraph.trim() !== "").length,
    lines: text === "" ? 0 : text.split(/\r\n|\r|\n/u).length,
    bytes: Buffer.byteLength(text),
    readingSeconds: Math.round((words / wordsPerMinute) * 60),
    topWords: [...counts]
      .filter(([word]) => !COMMON.has(word))
      .map(([word, count]) => ({ word, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, top),
  };
}

/** The text in pieces cut where it hurts least: at the end of a line, of a sentence, of a word. */
function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE_LENGTH) {
    const piece = text.slice(start, start + PIECE_LENGTH);
    const length = lastEnd(piece, /\n/gu) ?? lastEnd(piece, /[.!?]\s/gu) ?? lastEnd(piece, /\s/gu);
    // Cut in mid-word, a character of two units must stay whole.
    const whole = /[\uD800-\uDBFF]$/u.test(piece) ? PIECE_LENGTH - 1 : PIECE_LENGTH;
    yield piece.slice(0, length ?? whole);
    start += length ?? whole;
  }
  yield text.slice(start);
}

function lastEnd(text: string, pattern: RegExp): number | undefined {
  const match = [...text.matchAll(pattern)].at(-1);
  return match && match.index + match[0].length;
}
