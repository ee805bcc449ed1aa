// Parses JSON5 text into a plain value, and finds the position of every key and value. Objects have no
// prototype, so that `__proto__` is a key like any other. Most files are JSON: positions in them are looked for only where
// somebody asks, because the tree that has them takes a hundred times the memory of the text.

import {
  type ArrayNode,
  type DocumentNode,
  type ObjectNode,
  parse,
  type ValueNode,
} from "@humanwhocodes/momoa";
import type { JsonObject } from "../../types/json.ts";
import { atKey, atValue, type Issue, type KeyPath, type Position } from "../issue.ts";
import { explainSyntax, findOpenParts, forParser, type SyntaxProblem } from "./syntax.ts";

export interface ConfigDocument {
  kind: "document";
  value: unknown;
  issues: Issue[];
  locate: (issue: Issue) => Position;
}

/** The positions of one member of an object or one element of a list. */
interface MemberPositions {
  key: Position;
  value: Position;
}

/** The positions of everything inside each object and list of a document. */
type Positions = WeakMap<object, Map<string | number, MemberPositions>>;

/** Far beyond any configuration, and far below what would exhaust the stack. */
const DEEPEST = 100;

const START: Position = { line: 1, column: 1 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

export function parseText(text: string): ConfigDocument | ({ kind: "malformed" } & SyntaxProblem) {
  const plain = readPlain(text);
  if (plain !== undefined) {
    let tree: ReturnType<typeof parseTree>;
    return {
      kind: "document",
      value: plain.value,
      issues: [],
      locate: (issue) => {
        tree ??= parseTree(text);
        return tree?.locate(issue) ?? START;
      },
    };
  }
  const open = findOpenParts(text);
  const document = open.string === undefined ? parseTree(text) : undefined;
  return document ?? { kind: "malformed", ...explainSyntax(text, open) };
}

/** What JSON without any issue says; undefined for everything else. */
function readPlain(text: string): { value: unknown } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  let members = 0;
  let isTooDeep = false;
  const copy = (value: unknown, depth: number): unknown => {
    if (!isObject(value)) return value;
    if (depth === DEEPEST) {
      isTooDeep = true;
      return undefined;
    }
    if (Array.isArray(value)) return value.map((each) => copy(each, depth + 1));
    const object: JsonObject = Object.create(null);
    for (const [key, each] of Object.entries(value)) {
      members += 1;
      object[key] = copy(each, depth + 1);
    }
    return object;
  };
  const value = copy(parsed, 0);
  // If a key is there twice, only one member is left.
  return isTooDeep || members !== countMembers(text) ? undefined : { value };
}

/** In JSON, every colon outside a string is that of a member. */
function countMembers(json: string): number {
  let count = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (isInString) at += code === BACKSLASH ? 1 : 0;
    else if (code === COLON) count += 1;
  }
  return count;
}

function parseTree(text: string): ConfigDocument | undefined {
  const tree = tryParse(text);
  if (tree === undefined) return undefined;
  const reader = new TreeReader();
  const value = reader.read(tree.body, []);
  return {
    kind: "document",
    value,
    issues: reader.issues,
    locate: ({ path, at, position }) => position ?? locate(value, reader.positions, path, at),
  };
}

function tryParse(text: string): DocumentNode | undefined {
  try {
    return parse(forParser(text), { mode: "json5" });
  } catch {
    return undefined;
  }
}

class TreeReader {
  readonly positions: Positions = new WeakMap();
  readonly issues: Issue[] = [];

  read(node: ValueNode, path: KeyPath): unknown {
    switch (node.type) {
      case "Object":
      case "Array":
        if (path.length < DEEPEST) return this.#readNested(node, path);
        this.issues.push(atValue(path, `is nested more than ${DEEPEST} levels deep`));
        return undefined;
      case "Null":
        return null;
      case "NaN":
        return Number.NaN;
      case "Infinity":
        return node.sign === "-" ? -Infinity : Infinity;
      default:
        return node.value;
    }
  }

  #readNested(node: ObjectNode | ArrayNode, path: KeyPath): unknown {
    const members = new Map<string | number, MemberPositions>();
    const value =
      node.type === "Object"
        ? this.#readObject(node, path, members)
        : node.elements.map(({ value: element }, index) => {
            members.set(index, { key: positionOf(element), value: positionOf(element) });
            return this.read(element, [...path, index]);
          });
    this.positions.set(value, members);
    return value;
  }

  #readObject(
    node: ObjectNode,
    path: KeyPath,
    members: Map<string | number, MemberPositions>,
  ): JsonObject {
    const object: JsonObject = Object.create(null);
    const firsts = new Map<string, Position>();
    for (const { name, value } of node.members) {
      const key = name.type === "Identifier" ? name.name : name.value;
      const position = positionOf(name);
      const first = firsts.get(key);
      if (first === undefined) firsts.set(key, position);
      else this.issues.push({ ...duplicateKey([...path, key], first), position });
      members.set(key, { key: position, value: positionOf(value) });
      object[key] = this.read(value, [...path, key]);
    }
    return object;
  }
}

function duplicateKey(path: KeyPath, { line, column }: Position): Issue {
  return atKey(path, `duplicate key; the first one is at ${line}:${column}`);
}

function positionOf(node: { loc: { start: Position } }): Position {
  const { line, column } = node.loc.start;
  return { line, column };
}

/** The position of what `path` leads to or, where it leads to nothing, of the last thing on the way. */
function locate(root: unknown, positions: Positions, path: KeyPath, at: "key" | "value"): Position {
  let node = root;
  let position = START;
  for (const [index, step] of path.entries()) {
    const member = isObject(node) ? positions.get(node)?.get(step) : undefined;
    if (member === undefined || !isObject(node)) return position;
    const isLast = index === path.length - 1;
    position = isLast && at === "value" ? member.value : member.key;
    node = (node as Record<string | number, unknown>)[step];
  }
  return position;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
