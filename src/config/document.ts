// A JSON5 text as a plain value that remembers where everything stood. Objects have no prototype, so a
// key such as `__proto__` is a key like any other.

import { parse } from "@humanwhocodes/momoa";
import type { ArrayNode, DocumentNode, ObjectNode, ValueNode } from "@humanwhocodes/momoa";
import type { JsonObject } from "../model/json.ts";
import { atKey, atValue } from "./finding.ts";
import type { Finding, Path, Place } from "./finding.ts";
import { outline } from "./outline.ts";
import { locate } from "./positions.ts";
import type { MemberPlaces, Positions } from "./positions.ts";
import { explainSyntax } from "./syntax.ts";

export type ParsedText =
  | { kind: "document"; value: unknown; findings: Finding[]; locate: (finding: Finding) => Place }
  | { kind: "malformed"; place: Place; message: string };

/** Far beyond any configuration, and far below what would exhaust the stack. */
const DEEPEST = 100;

export function parseText(text: string): ParsedText {
  const seen = outline(text);
  const tree = seen.openString === undefined ? tryParse(text) : undefined;
  if (tree === undefined) return { kind: "malformed", ...explainSyntax(text, seen) };
  const reader = new Reader();
  const value = reader.read(tree.body, []);
  return {
    kind: "document",
    value,
    findings: reader.findings,
    locate: ({ path, at, place }) => place ?? locate(value, reader.positions, path, at),
  };
}

function tryParse(text: string): DocumentNode | undefined {
  try {
    return parse(text, { mode: "json5" });
  } catch {
    return undefined;
  }
}

class Reader {
  readonly positions: Positions = new WeakMap();
  readonly findings: Finding[] = [];

  read(node: ValueNode, path: Path): unknown {
    switch (node.type) {
      case "Object":
      case "Array":
        if (path.length < DEEPEST) return this.#readNested(node, path);
        this.findings.push(atValue(path, `is nested more than ${DEEPEST} levels deep`));
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

  #readNested(node: ObjectNode | ArrayNode, path: Path): unknown {
    const places = new Map<string | number, MemberPlaces>();
    const value =
      node.type === "Object"
        ? this.#readObject(node, path, places)
        : node.elements.map(({ value: element }, index) => {
            places.set(index, { key: placeOf(element), value: placeOf(element) });
            return this.read(element, [...path, index]);
          });
    this.positions.set(value, places);
    return value;
  }

  #readObject(
    node: ObjectNode,
    path: Path,
    places: Map<string | number, MemberPlaces>,
  ): JsonObject {
    const object: JsonObject = Object.create(null);
    const firsts = new Map<string, Place>();
    for (const { name, value } of node.members) {
      const key = name.type === "Identifier" ? name.name : name.value;
      const place = placeOf(name);
      const first = firsts.get(key);
      if (first === undefined) firsts.set(key, place);
      else this.findings.push({ ...duplicate([...path, key], first), place });
      places.set(key, { key: place, value: placeOf(value) });
      object[key] = this.read(value, [...path, key]);
    }
    return object;
  }
}

function duplicate(path: Path, { line, column }: Place): Finding {
  return atKey(path, `duplicate key; the first one is at ${line}:${column}`);
}

function placeOf(node: { loc: { start: Place } }): Place {
  const { line, column } = node.loc.start;
  return { line, column };
}
