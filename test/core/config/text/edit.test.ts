import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseText } from "../../../../src/core/config/text/document.ts";
import { removeValue, setValue, valueAt } from "../../../../src/core/config/text/edit.ts";
import { failure } from "../files.ts";

type Path = (string | number)[];

describe("setting a value", () => {
  const server = { command: "npx", args: ["-y", "x"] };

  it.each<[what: string, before: string, path: Path, value: unknown, after: string]>([
    ["into nothing", "", ["a"], 1, '{\n  "a": 1\n}\n'],
    ["into white space", "\n", ["a"], 1, '\n{\n  "a": 1\n}\n'],
    ["below a comment", "// mine", ["a"], 1, '// mine\n{\n  "a": 1\n}\n'],
    ["into an empty object", "{}", ["a"], 1, '{\n  "a": 1\n}'],
    [
      "with the objects on the way",
      "{}\n",
      ["mcpServers", "fs"],
      server,
      '{\n  "mcpServers": {\n    "fs": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    }\n  }\n}\n',
    ],
    [
      "after the others, with their indentation",
      '{\n\t"a": {\n\t\t"b": 1\n\t}\n}',
      ["a", "c"],
      { d: [] },
      '{\n\t"a": {\n\t\t"b": 1,\n\t\t"c": {\n\t\t\t"d": []\n\t\t}\n\t}\n}',
    ],
    [
      "without quotes around keys, behind a key that needs them",
      '{\n  a: {\n    "b-1": 1\n  }\n}',
      ["a", "b-2"],
      { c: 2 },
      '{\n  a: {\n    "b-1": 1,\n    "b-2": {\n      c: 2\n    }\n  }\n}',
    ],
    ["with a trailing comma", "{\n  a: 1,\n}", ["b"], 2, "{\n  a: 1,\n  b: 2,\n}"],
    [
      "with trailing commas inside, where the file has them",
      "{\n  a: {\n    // later\n  },\n}",
      ["a", "b"],
      { c: 1 },
      "{\n  a: {\n    b: {\n      c: 1,\n    },\n    // later\n  },\n}",
    ],
    [
      "behind the last one's comment",
      '{\n  "a": 1 // one\n}',
      ["b"],
      2,
      '{\n  "a": 1, // one\n  "b": 2\n}',
    ],
    [
      "before the comments that follow",
      '{\n  "a": 1\n  // "z": 0\n}',
      ["b"],
      2,
      '{\n  "a": 1,\n  "b": 2\n  // "z": 0\n}',
    ],
    [
      "into an object that has only comments",
      '{\n  "a": { // later\n    // "z": 0\n  }\n}',
      ["a", "b"],
      2,
      '{\n  "a": { // later\n    "b": 2\n    // "z": 0\n  }\n}',
    ],
    ["on the same line", '{ "a": 1 }', ["b"], { c: 2 }, '{ "a": 1, "b": { "c": 2 } }'],
    ["without spaces", '{"a":{}}', ["a", "b"], { c: [1, 2] }, '{"a":{"b":{"c":[1,2]}}}'],
    ["in a list", "{\n  a: [1, 2],\n}", ["a", 2], 3, "{\n  a: [1, 2, 3],\n}"],
    ["in place of another", '{\n  "a": "x", // why\n}', ["a"], "y", '{\n  "a": "y", // why\n}'],
    ["in place of an element", "[1, /* two */ 2]", [1], 3, "[1, /* two */ 3]"],
    ["in place of everything", "// all\n[1]\n", [], { a: 1 }, '// all\n{ "a": 1 }\n'],
    ["that is there already", "{ a: [0x10, 'b'] }", ["a"], [16, "b"], "{ a: [0x10, 'b'] }"],
    [
      "with the line ends of the file",
      '\uFEFF{\r\n  "a": 1\r\n}\r\n',
      ["b", "c"],
      2,
      '\uFEFF{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n',
    ],
    [
      "with the quotes of the file",
      "{\n  'a': 'x'\n}",
      ["it's"],
      'say "hi"',
      "{\n  'a': 'x',\n  'it\\'s': 'say \"hi\"'\n}",
    ],
    [
      "without quotes around keys, where the file has none",
      '{\n  a: "x"\n}',
      ["b"],
      { c: 1, "my key": 2 },
      '{\n  a: "x",\n  b: {\n    c: 1,\n    "my key": 2\n  }\n}',
    ],
    [
      "with a long list on lines of its own",
      "{\n}",
      ["a"],
      ["x".repeat(50), "y".repeat(50)],
      `{\n  "a": [\n    "${"x".repeat(50)}",\n    "${"y".repeat(50)}"\n  ]\n}`,
    ],
    ["without members that are undefined", "{}", ["a"], { b: undefined }, '{\n  "a": {}\n}'],
    [
      "beside a line separator in a string, which ends no line",
      '{ a: "\u2028", // note\n}',
      ["b"],
      1,
      '{ a: "\u2028", // note\nb: 1,\n}',
    ],
  ])("%s", (_, before, path, value, after) => {
    expect(setValue(before, path, value)).toBe(after);
  });

  it.each<[what: string, text: string, path: Path, message: string]>([
    ["a text that is not JSON5", "{ a: ", ["b"], 'the "{" of 1:1 is not closed'],
    ["a string that ends with a backslash", '{ a: "b\\', ["b"], "1:6  a string starts here"],
    ["an object where there is a string", '{ a: { b: "x" } }', ["a", "b", "c"], "a.b"],
    ["a list where there is an object", "{ a: {} }", ["a", 0], "is not a list"],
  ])("refuses %s", async (_, text, path, message) => {
    const error = await failure(() => setValue(text, path, 1));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(message);
  });

  it.each<[before: string, path: Path, after: string]>([
    ["{ a: [1] }", ["a", 1], "{ a: [1, 2] }"],
    ["{ a: [] }", ["a", 0], "{ a: [2] }"],
    ["{}", ["a", 0], '{\n  "a": [2]\n}'],
    ["[\n  1,\n]", [1], "[\n  1,\n  2,\n]"],
  ])("appends to %j at %j", (before, path, after) => {
    expect(setValue(before, path, 2)).toBe(after);
  });

  it("refuses a place behind the end of a list", () => {
    expect(() => setValue("[1]", [2], 1)).toThrow("a list of 1 elements has no element 2");
    expect(() => setValue("{}", ["a", 1], 1)).toThrow("a list of 0 elements has no element 1");
  });
});

describe("removing a value", () => {
  it.each<[what: string, before: string, path: Path, after: string]>([
    ["from the middle", "{ a: 1, b: 2, c: 3 }", ["b"], "{ a: 1, c: 3 }"],
    ["the first", "{ a: 1, b: 2 }", ["a"], "{ b: 2 }"],
    ["the last, and the comma before it", "{ a: 1, b: 2 }", ["b"], "{ a: 1 }"],
    ["the last, with a trailing comma", "{ a: 1, b: 2, }", ["b"], "{ a: 1, }"],
    ["the only one", '{\n  "a": {\n    "b": 1\n  }\n}', ["a", "b"], '{\n  "a": {}\n}'],
    ["an element", "[1, 2, 3]", [1], "[1, 3]"],
    ["a line", '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', ["b"], '{\n  "a": 1,\n  "c": 3\n}'],
    ["the last line", '{\n  "a": 1, // one\n  "b": 2\n}', ["b"], '{\n  "a": 1 // one\n}'],
    [
      "with its own comments and nobody else's",
      "{\n  // about a\n  a: 1,\n\n  // a chapter\n\n  // about b\n  /* and more */\n  b: 2, // two\n  // about c\n  c: 3,\n}",
      ["b"],
      "{\n  // about a\n  a: 1,\n\n  // a chapter\n\n  // about c\n  c: 3,\n}",
    ],
    ["beside a comment", "{ a: 1, /* x */ b: 2 }", ["b"], "{ a: 1 /* x */ }"],
    ["after a comment to the end of the line", "{ a: 1, // x\n b: 2 }", ["b"], "{ a: 1 // x\n  }"],
    ["with the commas first", "{ a: 1\n, b: 2\n, c: 3\n}", ["b"], "{ a: 1\n, c: 3\n}"],
    ["with Windows line ends", "{\r\n  a: 1,\r\n  b: 2\r\n}", ["b"], "{\r\n  a: 1\r\n}"],
    ["that is there twice", "{ a: 1, b: 2, a: 3 }", ["a"], "{ b: 2 }"],
    ["that is not there", "{ a: 1 }", ["b", "c"], "{ a: 1 }"],
    ["that no list has", "{ a: [1] }", ["a", 7], "{ a: [1] }"],
    ["from nothing", "// nothing\n", ["a"], "// nothing\n"],
  ])("%s", (_, before, path, after) => {
    expect(removeValue(before, path)).toBe(after);
  });
});

describe("any text", () => {
  it("has the value that was set, and gets its text back when that is removed", () => {
    fc.assert(
      fc.property(texts, paths, values, (text, path, value) => {
        const steps = existingSteps(text, path);
        fc.pre(steps !== undefined);
        const isNew = steps < path.length;
        const after = setValue(text, path, value);
        expect(read(after)).toEqual(withSet(read(text), path, value));
        if (isNew) expect(comments(after)).toEqual(comments(text));
        // Whether an empty object had a line break in it cannot be known afterwards.
        if (isNew && !isBlankInside(text, path.slice(0, steps))) {
          expect(removeValue(after, path.slice(0, steps + 1))).toBe(text);
        }
      }),
      { numRuns: 250 },
    );
  });

  it("keeps all that is around a value that is replaced", () => {
    fc.assert(
      fc.property(texts, fc.nat(), values, (text, pick, value) => {
        const all = pathsOf(read(text));
        const path = all[pick % all.length] ?? [];
        const marked = setValue(text, path, "\u0001");
        const at = marked.search(/["']\\u0001["']/);
        const after = setValue(text, path, value);
        expect(after.startsWith(text.slice(0, at))).toBe(true);
        expect(after.endsWith(marked.slice(at + 8))).toBe(true);
        expect(text.endsWith(marked.slice(at + 8))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it("loses what was removed and the comments at it, and nothing else", () => {
    fc.assert(
      fc.property(texts, fc.nat(), (text, pick) => {
        const all = pathsOf(read(text)).filter(({ length }) => length > 0);
        const path = all[pick % all.length];
        fc.pre(path !== undefined);
        const after = removeValue(text, path);
        expect(read(after)).toEqual(without(read(text), path));
        expect(isPartOf(after, text)).toBe(true);
      }),
      { numRuns: 250 },
    );
  });
});

// Texts

const KEYS = ["a", "b", "c", "my key", "it's", "__proto__"];

const values = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const paths = fc.array(fc.constantFrom<string | number>(...KEYS.slice(0, 3), 0, 1), {
  minLength: 1,
  maxLength: 3,
});

const trees = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(1, -2.5, "x", "it's", 'say "hi"', true, null, "// no comment", "\u2028"),
    fc.array(tie("tree"), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie("tree")), {
        maxLength: 3,
        selector: ([key]) => key,
      })
      .map(objectOf),
  ),
})).tree;

const gaps = fc.array(
  fc.constantFrom(
    "",
    " ",
    "\n",
    "\n  ",
    "\n\n\t",
    " // note\n",
    "/* note */",
    "\n  // line\n  ",
    " /* two\n lines */ ",
  ),
  { minLength: 1, maxLength: 12 },
);

/** Texts in all kinds of writing, comments everywhere. */
const texts = fc
  .record({
    tree: trees,
    gaps,
    odds: fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
    lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
    mark: fc.constantFrom("", "\uFEFF"),
  })
  .map(({ tree, lineEnd, mark, ...how }) => {
    const writer = new Writer(how.gaps, how.odds);
    return `${mark}${writer.write(tree).replaceAll("\n", lineEnd)}`;
  })
  .filter((text) => parseText(text).kind === "document");

class Writer {
  readonly #gaps: readonly string[];
  readonly #odds: readonly boolean[];
  #at = 0;

  constructor(allGaps: readonly string[], odds: readonly boolean[]) {
    this.#gaps = allGaps;
    this.#odds = odds;
  }

  write(value: unknown): string {
    return `${this.#gap()}${this.#value(value)}${this.#gap()}`;
  }

  #value(value: unknown): string {
    if (Array.isArray(value)) return `[${this.#list(value.map((each) => this.write(each)))}]`;
    if (typeof value !== "object" || value === null) return this.#scalar(value);
    const members = Object.entries(value).map(
      ([key, each]) => `${this.#gap()}${this.#key(key)}${this.#gap()}:${this.write(each)}`,
    );
    return `{${this.#list(members)}}`;
  }

  #list(parts: readonly string[]): string {
    if (parts.length === 0) return this.#gap();
    return `${parts.join(",")}${this.#odd() ? `,${this.#gap()}` : ""}`;
  }

  #key(key: string): string {
    return /^[a-z]+$/.test(key) && this.#odd() ? key : this.#scalar(key);
  }

  #scalar(value: unknown): string {
    const text = JSON.stringify(value);
    if (typeof value !== "string" || this.#odd()) return text;
    return `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  }

  #gap(): string {
    return this.#gaps[this.#at++ % this.#gaps.length] ?? "";
  }

  #odd(): boolean {
    return this.#odds[this.#at++ % this.#odds.length] ?? false;
  }
}

// The same edits, of values

function read(text: string): unknown {
  const document = parseText(text);
  if (document.kind === "malformed") throw new Error(`${document.message} in ${text}`);
  return plain(document.value);
}

/** Maps, in which `__proto__` is compared like any other key. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

function objectOf(entries: readonly (readonly [string, unknown])[]): unknown {
  const object: Record<string, unknown> = Object.create(null);
  for (const [key, value] of entries) object[key] = value;
  return object;
}

function withSet(root: unknown, [step, ...rest]: Path, value: unknown): unknown {
  if (step === undefined) return plain(value);
  if (typeof step === "number") {
    const list = Array.isArray(root) ? [...(root as unknown[])] : [];
    list[step] = withSet(list[step], rest, value);
    return list;
  }
  const map = new Map(root instanceof Map ? (root as Map<string, unknown>) : []);
  return map.set(step, withSet(map.get(step), rest, value));
}

function without(root: unknown, [step, ...rest]: Path): unknown {
  if (Array.isArray(root) && typeof step === "number") {
    const inner = rest.length === 0 ? [] : [without(root[step], rest)];
    return [...root.slice(0, step), ...inner, ...root.slice(step + 1)];
  }
  const map = new Map(root as Map<string, unknown>);
  if (rest.length === 0) map.delete(String(step));
  else map.set(String(step), without(map.get(String(step)), rest));
  return map;
}

function pathsOf(value: unknown, path: Path = []): Path[] {
  const entries: [string | number, unknown][] =
    value instanceof Map
      ? [...(value as Map<string, unknown>)]
      : Array.isArray(value)
        ? [...value.entries()]
        : [];
  return [path, ...entries.flatMap(([step, each]) => pathsOf(each, [...path, step]))];
}

/** How many steps of a path exist; undefined where the rest of it cannot be made. */
function existingSteps(text: string, path: Path): number | undefined {
  let value = read(text);
  for (const [index, step] of path.entries()) {
    if (value instanceof Map && typeof step === "string") {
      if (!value.has(step)) return isMakeable(path.slice(index + 1)) ? index : undefined;
      value = value.get(step);
    } else if (Array.isArray(value) && typeof step === "number") {
      if (step > value.length) return undefined;
      if (step === value.length) return isMakeable(path.slice(index + 1)) ? index : undefined;
      value = value[step];
    } else {
      return undefined;
    }
  }
  return path.length;
}

function isMakeable(rest: Path): boolean {
  return rest.every((step) => step !== 1);
}

/** Whether the object or list has neither items nor comments in it. */
function isBlankInside(text: string, path: Path): boolean {
  const value = valueAt(text, path);
  if (typeof value !== "object" || value === null || Object.keys(value).length > 0) return false;
  const marked = setValue(text, [...path, Array.isArray(value) ? 0 : "qq"], "qq");
  return /[{[]\s*(?:["']?qq["']?\s*:\s*)?["']qq["'],?\s*[}\]]/.test(marked);
}

function comments(text: string): string[] {
  return text.match(/\/\/ (?:note|line)|\/\* note \*\/|\/\* two\s+lines \*\//g) ?? [];
}

function isPartOf(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (character === part[at]) at++;
  return at === part.length;
}
