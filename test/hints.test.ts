// What Plugboard advises can be done: every command, option and setting that a text of src/ names exists, and hints about a
// server name only what can be set for it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { loadCommands, PLUGBOARD } from "../src/cli/commands.ts";
import type { Command } from "../src/cli/command.ts";
import { commandsApart } from "../src/cli/offered-command.ts";
import { codeVariableReason } from "../src/core/config/code-variables.ts";
import { networkFailure } from "../src/core/net/failure.ts";
import { addressRules } from "../src/core/net/policy.ts";
import { ofSession, PlugboardError } from "../src/core/types/errors.ts";
import type { JsonObject } from "../src/core/types/json.ts";
import { messageTooLarge } from "../src/core/upstream/transport/errors.ts";
import { parseMessage } from "../src/core/upstream/transport/parse-message.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The texts of a file: what is computed in one is `…`, and comments are none. */
function textsIn(source: string): string[] {
  const texts: string[] = [];
  let at = 0;
  const until = (quote: string): string => {
    let text = "";
    for (at += 1; at < source.length; at += 1) {
      const char = source.charAt(at);
      if (char === quote || (char === "\n" && quote !== "`")) break;
      if (char === "\\") {
        at += 1;
        text += source.charAt(at) === "n" ? "\n" : source.charAt(at);
      } else if (quote === "`" && source.startsWith("${", at)) {
        for (let depth = 0; at < source.length; at += 1) {
          const inner = source.charAt(at);
          if (inner === "{") depth += 1;
          else if (inner === "}" && --depth === 0) break;
          else if (/["'`]/.test(inner)) texts.push(until(inner));
        }
        text += "…";
      } else text += char;
    }
    return text;
  };
  for (; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (source.startsWith("//", at)) at = source.indexOf("\n", at);
    else if (source.startsWith("/*", at)) at = source.indexOf("*/", at) + 1;
    else if (/["'`]/.test(char)) texts.push(until(char));
    if (at < 0) break;
  }
  return texts;
}

const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"));
const TEXTS = files.flatMap((file) =>
  textsIn(readFileSync(join(root, "src", file), "utf8")).map((text) => ({ file, text })),
);

const commands = await loadCommands();

function named(word: string, within: readonly Command[]): Command | undefined {
  return within.find(({ name, aliases }) => name === word || aliases.includes(word));
}

const optionsOf = ({ options }: Command): string[] =>
  Object.values(options).flatMap(({ name, short, also }) =>
    [name, short, also].filter((each) => each !== undefined),
  );

/** What readers stumbled over: none of it is how anybody would say it. */
const ODD =
  /has the board in its next|is too much: one|at most so many|have mended|cannot be asked|takes? over servers|is no (?:agent|file|server|tool)\b/i;

it("nothing is said in words that readers stumbled over", () => {
  const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  const pages = ["README.md", "SECURITY.md", ...docs.map((name) => join("docs", name))].map(
    (file) => ({ file, text: readFileSync(join(root, file), "utf8") }),
  );
  const odd = [...TEXTS, ...pages].flatMap(({ file, text }) => {
    const [found] = ODD.exec(text.replace(/\bthere is no\b/gi, "")) ?? [];
    return found === undefined ? [] : [`${file}: ${found}`];
  });
  expect(odd).toEqual([]);
});

/** What follows the project's name in a sentence. */
const PROSE = /^(?:alone|command|for|is|keeps|out|tries)$/;

it("every command that is offered exists, with its options", () => {
  const wrong: string[] = [];
  let offered = 0;
  for (const { file, text } of TEXTS) {
    for (const [, line = ""] of text.matchAll(/\bplugboard ([a-z][^,;)'"`\n]*)/g)) {
      const [first = "", ...rest] = line.split(" ").map((word) => word.replace(/[.:…]+$/, ""));
      if (PROSE.test(first) || first === "__complete") continue;
      const found = named(first, commands);
      offered += 1;
      if (found === undefined) {
        wrong.push(`${file}: plugboard ${line}`);
        continue;
      }
      const inner = named(rest[0] ?? "", found.commands);
      const takers = [PLUGBOARD, found, ...(inner ? [inner] : [])];
      const known = new Set(takers.flatMap(optionsOf));
      const end = rest.indexOf("--");
      const words = end === -1 ? rest : rest.slice(0, end);
      // The options of a tool are the tool's.
      const unknown = words.filter((word) => /^--[a-z]/.test(word) && !known.has(word));
      if (unknown.length > 0 && found.takesOptions !== true) wrong.push(`${file}: ${line}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(offered).toBeGreaterThan(200);
});

/** Options of other programs, of tools in examples, and what `call` takes in place of a tool's option. */
const FOREIGN = new Set(
  "acp args bearer-token-env-var from-literal git head key label max-old-space-size path privileged raw remote-debugging-port text top".split(
    " ",
  ),
);

it("every option that is named belongs to a command", () => {
  const all = [PLUGBOARD, ...commands, ...commands.flatMap((each) => each.commands)];
  const known = new Set(all.flatMap(optionsOf));
  const wrong = TEXTS.filter(({ file }) => file !== "core/process/containers.ts").flatMap(
    ({ file, text }) =>
      !text.includes(" ")
        ? []
        : Array.from(text.matchAll(/(?<![\w-])--([a-z][\w-]+)/g), ([option, name = ""]) =>
            known.has(option) || FOREIGN.has(name) ? [] : [`${file}: ${option}`],
          ).flat(),
  );
  expect(wrong).toEqual([]);
});

type Node = JsonObject;
const SCHEMA = JSON.parse(readFileSync(join(root, "plugboard.schema.json"), "utf8")) as Node;

/** Every key of the configuration, with the objects that stand under it. */
const KEYS = new Map<string, Node[]>();

/** The node, what it refers to, and its alternatives. */
function variants(node: Node): Node[] {
  const { $ref, anyOf, oneOf, allOf, items } = node as Record<string, unknown>;
  const name = typeof $ref === "string" ? ($ref.split("/").at(-1) ?? "") : undefined;
  const target = name === undefined ? [] : [(SCHEMA["definitions"] as Record<string, Node>)[name]];
  const others = [anyOf, oneOf, allOf, [items]].flat().concat(target) as (Node | undefined)[];
  return [node, ...others.flatMap((each) => (typeof each === "object" ? variants(each) : []))];
}

const propertiesOf = (node: Node): Map<string, Node> =>
  new Map(
    variants(node).flatMap(({ properties, additionalProperties }) => [
      ...Object.entries((properties ?? {}) as Record<string, Node>),
      ...(typeof additionalProperties === "object" && additionalProperties !== null
        ? [["*", additionalProperties as Node] as const]
        : []),
    ]),
  );

(function collect(node: Node): void {
  for (const [key, inner] of propertiesOf(node)) {
    const known = KEYS.get(key);
    if (known?.includes(inner)) continue;
    KEYS.set(key, [...(known ?? []), inner]);
    collect(inner);
  }
})(SCHEMA);

function exists(path: string): boolean {
  const [first = "", ...rest] = path.split(".");
  let nodes = KEYS.get(first) ?? [];
  for (const key of rest) {
    nodes = nodes.flatMap((node) => {
      const inner = propertiesOf(node);
      return [inner.get(key) ?? inner.get("*")].filter((each) => each !== undefined);
    });
  }
  return nodes.length > 0;
}

/** Of other applications, and names that only look like a key. */
const NO_KEYS =
  /^(?:gateway\.auth|gateway\.reload\.mode|agents\.entries|\w+\.jsonl?|gateway\.example\.com)$/;

it("every setting that is named is in the schema", () => {
  const wrong: string[] = [];
  const seen = new Set<string>();
  for (const { file, text } of TEXTS) {
    if (!text.includes(" ")) continue;
    const quoted = text.matchAll(/\b(?:set|raise|check|correct|longer) (?:its )?"([a-z]\w+)"/g);
    const paths = text.matchAll(
      /(?<![\w./@:-])((?:agents|mcp|gateway|secrets|network|acp|models|oauth|audit|tls)(?:\.(?:[a-z]\w*|…))+)/g,
    );
    for (const [, key = ""] of [...quoted, ...paths]) {
      const path = key.replaceAll("…", "*").replace(/\.\*$/, "");
      seen.add(path);
      if (!NO_KEYS.test(path) && !exists(path)) wrong.push(`${file}: ${key}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(seen.size).toBeGreaterThan(40);
});

it("no variable is recommended that others than you may not set", () => {
  const advised = TEXTS.filter(({ text }) => / in (?:its )?"env"/.test(text));
  expect(advised.length).toBeGreaterThan(2);
  for (const { text } of advised) {
    for (const [name] of text.matchAll(/\b[A-Z][A-Z0-9_]{3,}\b/g)) {
      expect([name, codeVariableReason(name)]).toEqual([name, undefined]);
    }
  }
  const places = TEXTS.filter(({ text }) => text.includes("NODE_OPTIONS"));
  expect(new Set(places.map(({ file }) => file))).toEqual(
    new Set(["core/config/code-variables.ts"]),
  );
});

const failed = (code: string): unknown => Object.assign(new Error(code), { code });
const caught = (run: () => unknown): PlugboardError => {
  try {
    run();
  } catch (error) {
    if (error instanceof PlugboardError) return error;
  }
  throw new Error("nothing was refused");
};
const refusedAddress =
  (url: string) =>
  (isOfSession: boolean): PlugboardError => {
    const policy = { allowInsecure: false, allowPrivate: false, allow: [], isOfSession };
    return caught(() => addressRules(policy).checkUrl(new URL(url)));
  };

/** Failures of a server, as they are made for one in the configuration and for one of a session. */
const FAILURES: [what: string, error: (isOfSession: boolean) => PlugboardError][] = [
  ["a message too large", () => messageTooLarge(1000)],
  ["too many values", () => caught(() => parseMessage(`[${"1,".repeat(2e6)}1]`, 1))],
  ["a certificate of its own", () => networkFailure(failed("DEPTH_ZERO_SELF_SIGNED_CERT"), "x")],
  ["an unknown authority", () => networkFailure(failed("UNABLE_TO_GET_ISSUER_CERT"), "x")],
  [
    "no client certificate",
    () => networkFailure(failed("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"), "x"),
  ],
  ["plain http", refusedAddress("http://example.com/mcp")],
  ["a private address", refusedAddress("https://10.0.0.1/mcp")],
];

const sessionKeys = propertiesOf({ $ref: "#/definitions/sessionServerKeys" });

it.each(FAILURES)("%s: the hint is about the entry in the configuration", (_, make) => {
  expect(make(false).hint).toMatch(/"\w+".* for this server/);
});

it.each(FAILURES)("%s: for a server of a session, the hint names what it has", (_, make) => {
  const { hint = "" } = ofSession(make(true));
  expect(hint).not.toMatch(/for this server|allowPrivate|allowInsecure/);
  for (const [, key = ""] of hint.matchAll(/(?:set|raise) "(\w+)"/g)) {
    expect([...sessionKeys.keys()]).toContain(key);
    expect(hint).toContain("in mcp.session");
  }
  expect(hint).toMatch(/in mcp\.session|into the configuration|network\.allow/);
});

it.each(FAILURES)("%s: for a server that was typed, the hint names what it has", (_, make) => {
  const typed = { url: "https://x.example", env: [], headers: [] };
  const shown = commandsApart(make(false).hint ?? "", { typed }).join("\n");
  expect(shown).not.toContain("for this server");
  expect(shown).toMatch(/give --allow-\w+|for it in a configuration, into which plugboard add/);
});
