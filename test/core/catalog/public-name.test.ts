import { describe, expect, it } from "vitest";
import { namingFor, usableOwnName, publicName } from "../../../src/core/catalog/public-name.ts";
import { DEFAULT_TOOL_NAMES } from "../../../src/core/config/schema/file-schema.ts";

const SAFE = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const SAFE_WITH_COLON = /^[A-Za-z][A-Za-z0-9_:-]{0,63}$/;
const TEMPLATES = [
  DEFAULT_TOOL_NAMES,
  "mcp_{server}_{tool}",
  "{server}__{tool}",
  "mcp:{server}:{tool}",
  "{tool}-{server}",
  "{server}{tool}",
  "x_{tool}_of_{server}_y",
];

describe("a valid name", () => {
  it.each([
    [DEFAULT_TOOL_NAMES, "docs", "search", "mcp__docs__search"],
    ["mcp_{server}_{tool}", "docs", "search", "mcp_docs_search"],
    ["{server}__{tool}", "docs", "search", "docs__search"],
    ["mcp:{server}:{tool}", "docs", "search", "mcp:docs:search"],
    ["{tool}_at_{server}", "docs", "search", "search_at_docs"],
    [DEFAULT_TOOL_NAMES, "my-docs", "read_file", "mcp__my-docs__read_file"],
    [DEFAULT_TOOL_NAMES, "a_b", "c_d_e", "mcp__a_b__c_d_e"],
    ["mcp_{server}_{tool}", "docs", "read_file", "mcp_docs_read_file"],
    [DEFAULT_TOOL_NAMES, "1st", "2nd", "mcp__1st__2nd"],
    [DEFAULT_TOOL_NAMES, "a", "_private", "mcp__a___private"],
    [DEFAULT_TOOL_NAMES, "s", "t".repeat(56), `mcp__s__${"t".repeat(56)}`],
  ])("is the filled-in template: %s, %s, %s", (template, server, tool, name) => {
    expect(publicName(template, server, tool)).toBe(name);
  });
});

describe("a name that is not valid", () => {
  it.each([
    [
      "a character no provider takes",
      DEFAULT_TOOL_NAMES,
      "docs",
      "files.read",
      /^mcp__docs__files_read_[0-9a-f]{8}$/,
    ],
    [
      "a space in the server",
      DEFAULT_TOOL_NAMES,
      "my docs",
      "read",
      /^mcp__my_docs__read_[0-9a-f]{8}$/,
    ],
    ["emoji alone", DEFAULT_TOOL_NAMES, "docs", "🔍🔎", /^mcp__docs_[0-9a-f]{8}$/],
    ["another script", DEFAULT_TOOL_NAMES, "docs", "検索", /^mcp__docs_[0-9a-f]{8}$/],
    [
      "300 characters",
      DEFAULT_TOOL_NAMES,
      "docs",
      "x".repeat(300),
      /^mcp__docs__x{44}_[0-9a-f]{8}$/,
    ],
    [
      "one character too many",
      DEFAULT_TOOL_NAMES,
      "s",
      "t".repeat(57),
      /^mcp__s__t{47}_[0-9a-f]{8}$/,
    ],
    ["a long server", DEFAULT_TOOL_NAMES, "s".repeat(64), "read", /^mcp__s{50}_[0-9a-f]{8}$/],
    ["__ in the tool", DEFAULT_TOOL_NAMES, "docs", "a__b", /^mcp__docs__a__b_[0-9a-f]{8}$/],
    ["__ in the server", DEFAULT_TOOL_NAMES, "a__b", "read", /^mcp__a__b__read_[0-9a-f]{8}$/],
    ["a server that ends in _", DEFAULT_TOOL_NAMES, "a_", "b", /^mcp__a___b_[0-9a-f]{8}$/],
    [
      "the separator in the server",
      "mcp_{server}_{tool}",
      "my_docs",
      "read",
      /^mcp_my_docs_read_[0-9a-f]{8}$/,
    ],
    [
      "the separator in the tool, which comes first",
      "{tool}_{server}",
      "docs",
      "read_file",
      /^read_file_docs_[0-9a-f]{8}$/,
    ],
    ["no separator", "{server}{tool}", "docs", "read", /^docsread_[0-9a-f]{8}$/],
    ["a digit in front", "{server}__{tool}", "1st", "read", /^t_1st__read_[0-9a-f]{8}$/],
    ["a dash in front", "{server}__{tool}", "-x", "read", /^t_-x__read_[0-9a-f]{8}$/],
    ["nothing but underscores", "{server}__{tool}", "_", "_", /^t_[0-9a-f]{8}$/],
    [
      "a cut behind a dash",
      DEFAULT_TOOL_NAMES,
      "docs",
      `${"x".repeat(40)}-----${"y".repeat(40)}`,
      /^mcp__docs__x{40}_[0-9a-f]{8}$/,
    ],
    [
      "the look of a hash",
      DEFAULT_TOOL_NAMES,
      "docs",
      "fix_deadbeef",
      /^mcp__docs__fix_deadbeef_[0-9a-f]{8}$/,
    ],
    ["a bare colon", "mcp:{server}:{tool}", "a:b", "c", /^mcp:a_b:c_[0-9a-f]{8}$/],
  ])("gets a hash: %s", (_, template, server, tool, name) => {
    expect(publicName(template, server, tool)).toMatch(name);
  });

  it("is the same every time, in every version", () => {
    expect(publicName(DEFAULT_TOOL_NAMES, "docs", "files.read")).toBe(
      "mcp__docs__files_read_6fc313ed",
    );
  });
});

describe("names", () => {
  it.each(TEMPLATES)("are valid and different for different tools: %s", (template) => {
    // Every pair over an alphabet in which parts, separators and replacements look alike.
    const parts = words(["a", "_", ".", "-"], 3);
    expectDistinct(template, pairs(parts, parts));
  });

  it.each(TEMPLATES)("are so for names of any length and script: %s", (template) => {
    const random = generator(7);
    const any = Array.from({ length: 80 }, () => randomWord(random));
    expectDistinct(template, pairs(any, any));
  });

  it.each(TEMPLATES)("cannot be chosen to equal a name with a hash: %s", (template) => {
    const [before = "", after = ""] = template.replace("{server}", "docs").split("{tool}");
    for (const tool of ["files.read", "a__b", "検索", "x".repeat(300)]) {
      const taken = publicName(template, "docs", tool);
      const forged = taken.slice(before.length, taken.length - after.length);
      expect(publicName(template, "docs", forged)).not.toBe(taken);
    }
  });
});

describe("a limit on the length", () => {
  it.each([
    ["a name that fits", 48, "search", "mcp__docs__search"],
    ["a name that just fits", 48, "t".repeat(37), `mcp__docs__${"t".repeat(37)}`],
    ["one character too many", 48, "t".repeat(38), /^mcp__docs__t{28}_[0-9a-f]{8}$/],
    ["the shortest limit", 24, "search_everything", /^mcp__docs__sear_[0-9a-f]{8}$/],
    ["the longest limit", 128, "t".repeat(117), `mcp__docs__${"t".repeat(117)}`],
  ])("%s", (_, length, tool, expected) => {
    const name = publicName(DEFAULT_TOOL_NAMES, "docs", tool, length);
    expect(name.length).toBeLessThanOrEqual(length);
    if (typeof expected === "string") expect(name).toBe(expected);
    else expect(name).toMatch(expected);
  });

  it("keeps names different", () => {
    const tools = Array.from({ length: 200 }, (_, each) => `${"t".repeat(40)}${each}`);
    const names = new Set(tools.map((tool) => publicName(DEFAULT_TOOL_NAMES, "docs", tool, 48)));
    expect(names.size).toBe(tools.length);
  });
});

describe("tools that keep their own names", () => {
  const on = (...names: string[]) => names.map((name) => ({ name, enabled: true }));

  it.each<[string, string, { name: string; enabled: boolean }[], string | undefined]>([
    ["are those of the only server", "{tool}", on("docs"), "docs"],
    [
      "are those of the only server that is enabled",
      "{tool}",
      [...on("docs"), { name: "off", enabled: false }],
      "docs",
    ],
    ["are none with two servers", "{tool}", on("docs", "files"), undefined],
    ["are none without a server", "{tool}", [], undefined],
    ["are none with another template", "{server}__{tool}", on("docs"), undefined],
  ])("%s", (_, toolNames, servers, expected) => {
    const { ownNamesOf, template } = namingFor(toolNames, servers);
    expect(ownNamesOf).toBe(expected);
    expect(template).toBe("{server}__{tool}");
  });

  const free = (): boolean => false;

  it.each(["search", "files.read", "a__b", "fix_deadbeef", "1st", "-", "x".repeat(128)])(
    "are valid in MCP: %s",
    (tool) => {
      expect(usableOwnName("docs", tool, 48, free)).toBe(tool);
    },
  );

  it.each([
    ["a space", "read file", /^read_file_[0-9a-f]{8}$/],
    ["another script", "検索", /^t_[0-9a-f]{8}$/],
    ["129 characters", "x".repeat(129), /^x{39}_[0-9a-f]{8}$/],
    ["nothing but a name that is taken", "taken", /^taken_[0-9a-f]{8}$/],
  ])("get a hash otherwise: %s", (_, tool, expected) => {
    expect(usableOwnName("docs", tool, 48, (name) => name === "taken")).toMatch(expected);
  });
});

function expectDistinct(template: string, given: [server: string, tool: string][]): void {
  const safe = template.includes(":") ? SAFE_WITH_COLON : SAFE;
  const owners = new Map<string, string>();
  const unsafe: string[] = [];
  const shared: string[] = [];
  for (const [server, tool] of given) {
    const name = publicName(template, server, tool);
    const pair = JSON.stringify([server, tool]);
    const owner = owners.get(name);
    if (!safe.test(name)) unsafe.push(`${pair}: ${name}`);
    if (owner !== undefined && owner !== pair) shared.push(`${owner} and ${pair}: ${name}`);
    owners.set(name, pair);
  }
  expect({ unsafe, shared }).toEqual({ unsafe: [], shared: [] });
}

function words(alphabet: string[], longest: number): string[] {
  let last = [""];
  const all: string[] = [];
  for (let length = 1; length <= longest; length += 1) {
    last = last.flatMap((word) => alphabet.map((letter) => word + letter));
    all.push(...last);
  }
  return all;
}

function pairs(servers: string[], tools: string[]): [string, string][] {
  return servers.flatMap((server) => tools.map((tool): [string, string] => [server, tool]));
}

/** The same numbers each time (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function randomWord(random: () => number): string {
  const letters = [
    "a",
    "B",
    "7",
    "_",
    "__",
    "-",
    ".",
    "/",
    " ",
    "é",
    "検",
    "😀",
    "\u0000",
    "\ud800",
  ];
  const length = 1 + Math.floor(random() ** 3 * 120);
  return Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("");
}
