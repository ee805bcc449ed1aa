// Adds one table to a TOML text, or removes it, and keeps everything else byte for byte.

import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { atKey, configInvalid, type KeyPath, throwIfAny } from "../issue.ts";
import { parseToml, type TomlTable, tomlTables } from "./toml.ts";

type Plain = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** The value that `path` leads to, or undefined. Throws CONFIG_INVALID for a text that cannot be read. */
export function tomlValueAt(text: string, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (node, key) => (isJsonObject(node) ? node[key] : undefined),
    parsed(text),
  );
}

/** Puts the table at the end, or in the place of one at the same path. */
export function setTable(
  text: string,
  path: readonly string[],
  values: Readonly<Record<string, Plain>>,
): string {
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? "\n";
  const lines = [
    `[${path.map(writtenKey).join(".")}]`,
    ...Object.entries(values).map(([key, value]) => `${writtenKey(key)} = ${written(value)}`),
  ];
  const table = `${lines.join(lineEnd)}${lineEnd}`;
  const [first] = tablesAt(text, path);
  if (first !== undefined) {
    const rest = withoutTables(text, path, { keepGap: true });
    return checked(rest.slice(0, first.start) + table + rest.slice(first.start), text, path);
  }
  const gap = text === "" ? "" : text.endsWith("\n") ? lineEnd : `${lineEnd}${lineEnd}`;
  return checked(`${text}${gap}${table}`, text, path);
}

/**
 * Removes the table with the tables inside it, and the empty line before it. A text that does not have it is returned as
 * it is. Throws CONFIG_INVALID where it is not written as a table.
 */
export function removeTable(text: string, path: readonly string[]): string {
  if (tomlValueAt(text, path) === undefined) return text;
  const result = checked(withoutTables(text, path), text, path);
  if (tomlValueAt(result, path) !== undefined) refuse(path);
  return result;
}

function tablesAt(text: string, path: readonly string[]): TomlTable[] {
  if (tomlValueAt(text, path) === undefined) return [];
  return tomlTables(text).filter((table) => path.every((key, at) => table.path[at] === key));
}

function withoutTables(
  text: string,
  path: readonly string[],
  { keepGap = false }: { keepGap?: boolean } = {},
): string {
  return tablesAt(text, path).reduceRight((rest, { start, end }, index) => {
    const before = rest.slice(0, start);
    const isKept = keepGap && index === 0;
    return (isKept ? before : before.replace(/(^|\n)\r?\n$/, "$1")) + rest.slice(end);
  }, text);
}

/** Throws CONFIG_INVALID unless everything but the table is as it was. */
function checked(result: string, text: string, path: readonly string[]): string {
  const document = parseToml(result);
  const isSame =
    document.kind === "document" &&
    isDeepStrictEqual(without(document.value, path), without(parsed(text), path));
  if (!isSame) refuse(path);
  return result;
}

function parsed(text: string): unknown {
  const document = parseToml(text);
  if (document.kind === "document") return document.value;
  throw configInvalid([{ ...document.position, path: "", message: document.message }]);
}

/** Objects that are empty then count as absent, since a table need not be announced. */
function without(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (!isJsonObject(value) || key === undefined) return undefined;
  const inside = without(value[key], rest);
  const isEmpty = inside === undefined || (isJsonObject(inside) && isNothing(inside));
  const others = Object.entries(value).filter(([each]) => each !== key);
  return Object.fromEntries(isEmpty ? others : [...others, [key, inside]]);
}

function isNothing(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}

function refuse(path: readonly string[]): void {
  const message = "is not written as a table of its own, which is all that can be changed here";
  throwIfAny([atKey(path, message)], {});
}

function writtenKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** JSON's escapes are TOML's too, but for DEL, which TOML wants escaped. */
function written(value: Plain): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(
      ([key, each]) => `${writtenKey(key)} = ${written(each)}`,
    );
    return `{ ${pairs.join(", ")} }`;
  }
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}
