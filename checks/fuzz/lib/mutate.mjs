// Makes a new input of known ones.

const INTERESTING = [0, 1, 9, 10, 13, 32, 34, 39, 44, 47, 58, 91, 92, 93, 123, 125, 127, 128, 255];
const NUMBERS = ["0", "-1", "-0", "1e400", "1.5", "2147483648", "9007199254740993", "4294967295"];
const TEXTS = [
  "\u0000",
  "\uFEFF",
  "\u2028",
  "\u200b",
  "\u202e",
  "é",
  "\ud83d\ude00",
  "\r\n",
  "__proto__",
  "constructor",
  "..",
  "../",
  "%2e%2e",
  "null",
  "true",
];
/** Beyond what a stack takes would be found by length alone; this is what deep values need. */
const MOST_REPEATS = 300;

const NEWEST = 8;

const CHANGES = [
  flip,
  set,
  insertByte,
  remove,
  repeat,
  copy,
  swap,
  insertWord,
  replaceNumber,
  splice,
  cut,
  nest,
];

/** `corpus` is never empty; `words` are texts that mean something to the target. */
export function mutate(random, { corpus, words, longest }) {
  // What was kept last has reached farthest.
  let bytes = random.pick(random.isOneIn(2) ? corpus.slice(-NEWEST) : corpus);
  const around = { corpus, words: [...words, ...TEXTS] };
  const times = 1 + random.below(random.isOneIn(4) ? 16 : 4);
  for (let time = 0; time < times; time += 1) bytes = random.pick(CHANGES)(bytes, random, around);
  return bytes.length > longest ? bytes.subarray(0, longest) : bytes;
}

/** Words and numbers of the seeds: what is worth putting elsewhere. */
export function wordsIn(seeds) {
  const found = new Set();
  for (const seed of seeds) {
    for (const [word] of seed.toString("latin1").matchAll(/"[\w@/:.$-]{2,40}"|[\w@$-]{3,40}/g))
      found.add(word);
  }
  return [...found].slice(0, 2000);
}

function flip(bytes, random) {
  return changed(bytes, random, (byte) => byte ^ (1 << random.below(8)));
}

function set(bytes, random) {
  return changed(bytes, random, () =>
    random.isOneIn(2) ? random.pick(INTERESTING) : random.below(256),
  );
}

function changed(bytes, random, change) {
  if (bytes.length === 0) return bytes;
  const copied = Buffer.from(bytes);
  const at = random.below(bytes.length);
  copied[at] = change(copied[at]);
  return copied;
}

function insertByte(bytes, random) {
  const byte = random.isOneIn(2) ? 32 + random.below(95) : random.below(256);
  return put(bytes, random, Buffer.of(byte));
}

function remove(bytes, random) {
  const [start, end] = part(bytes, random);
  return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)]);
}

function repeat(bytes, random) {
  const [start, end] = part(bytes, random);
  const times = 1 + random.below(random.isOneIn(8) ? MOST_REPEATS : 4);
  const again = Array.from({ length: times }, () => bytes.subarray(start, end));
  return Buffer.concat([bytes.subarray(0, end), ...again, bytes.subarray(end)]);
}

function copy(bytes, random) {
  const [start, end] = part(bytes, random);
  return put(bytes, random, bytes.subarray(start, end));
}

function swap(bytes, random) {
  const [start, middle] = part(bytes, random);
  const end = middle + random.below(bytes.length - middle + 1);
  return Buffer.concat([
    bytes.subarray(0, start),
    bytes.subarray(middle, end),
    bytes.subarray(start, middle),
    bytes.subarray(end),
  ]);
}

function insertWord(bytes, random, { words }) {
  return put(bytes, random, Buffer.from(random.pick(words)));
}

function replaceNumber(bytes, random) {
  const text = bytes.toString("latin1");
  const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)];
  if (numbers.length === 0) return set(bytes, random);
  const { 0: found, index } = random.pick(numbers);
  const number = Buffer.from(random.pick(NUMBERS));
  return Buffer.concat([bytes.subarray(0, index), number, bytes.subarray(index + found.length)]);
}

/** The beginning of one and the end of another. */
function splice(bytes, random, { corpus }) {
  const other = random.pick(corpus);
  const head = bytes.subarray(0, random.below(bytes.length + 1));
  return Buffer.concat([head, other.subarray(random.below(other.length + 1))]);
}

function cut(bytes, random) {
  return bytes.subarray(0, random.below(bytes.length + 1));
}

function nest(bytes, random) {
  const [start, end] = part(bytes, random);
  const [open, close] = random.pick([
    ["[", "]"],
    ["{", "}"],
    ['{"a":', "}"],
    ['"', '"'],
    ["(", ")"],
  ]);
  const times = 1 + random.below(random.isOneIn(8) ? MOST_REPEATS : 3);
  return Buffer.concat([
    bytes.subarray(0, start),
    Buffer.from(open.repeat(times)),
    bytes.subarray(start, end),
    Buffer.from(close.repeat(times)),
    bytes.subarray(end),
  ]);
}

/** Mostly in the place of something, so that inputs do not grow for ever. */
function put(bytes, random, added) {
  const [start, end] = part(bytes, random);
  const rest = random.isOneIn(2) ? start : end;
  return Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(rest)]);
}

/** Short ones are the likeliest. */
function part(bytes, random) {
  const start = random.below(bytes.length + 1);
  const most = random.isOneIn(4) ? bytes.length : 16;
  return [start, Math.min(bytes.length, start + random.below(most + 1))];
}
