// Changes one value in a JSON, JSONC or JSON5 text and keeps everything else byte for byte: comments, order,
// indentation, line endings, commas and quotes. What is added looks like what is around it.

import {
  type ArrayNode,
  type DocumentNode,
  type ElementNode,
  type MemberNode,
  type ObjectNode,
  parse,
  type Token,
  tokenize,
  type ValueNode,
} from "@humanwhocodes/momoa";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type JsonObject, valueIn } from "../../types/json.ts";
import { configInvalid, type KeyPath } from "../issue.ts";
import { parseText } from "./document.ts";
import { forParser } from "./syntax.ts";

/**
 * Sets the value that `path` leads to, and makes the objects and lists on the way that are missing. A step past the
 * end of a list appends. A text without a value becomes an object. Throws CONFIG_INVALID for a text that cannot be
 * read, and where something on the way is neither an object nor a list.
 */
export function setValue(text: string, path: KeyPath, value: unknown): string {
  const page = readPage(withValue(text));
  let node = page.root;
  for (const [index, step] of path.entries()) {
    const container = containerOf(node, step, path.slice(0, index));
    const item = findItem(container, step);
    if (item === undefined) {
      return applied(
        page.text,
        insertion(page, container, step, nested(path.slice(index + 1), value)),
      );
    }
    node = item.value;
  }
  if (isDeepStrictEqual(plain(valueOf(page.text, node)), plain(value))) return page.text;
  const [start, end] = rangeOf(node);
  const indent = page.isPretty ? indentAt(page.text, start) : undefined;
  return applied(page.text, [{ start, end, text: written(value, indent, page.style) }]);
}

/**
 * Removes the member or the element that `path` leads to, with its comma, the comment lines directly above it and the
 * comment behind it on its line. A text that does not have it is returned as it is.
 */
export function removeValue(text: string, path: KeyPath): string {
  const step = path.at(-1);
  if (step === undefined || !hasValue(text)) return text;
  const page = readPage(text);
  let node = page.root;
  for (const each of path.slice(0, -1)) {
    const item = isContainer(node) ? findItem(node, each) : undefined;
    if (item === undefined) return text;
    node = item.value;
  }
  const index = isContainer(node) ? itemsOf(node).findLastIndex(({ key }) => key === step) : -1;
  if (index === -1 || !isContainer(node)) return text;
  const rest = applied(text, removal(page, node, index));
  // A key may be there twice.
  return typeof step === "string" ? removeValue(rest, path) : rest;
}

/** The value that `path` leads to, or undefined. Throws CONFIG_INVALID for a text that cannot be read. */
export function valueAt(text: string, path: KeyPath): unknown {
  return hasValue(text) ? valueIn(valueOf(text), path) : undefined;
}

// Reading

interface Page {
  text: string;
  root: ValueNode;
  /** In the order of the text, comments among them. */
  tokens: readonly Span[];
  style: Style;
  /** Whether a new entry goes on lines of its own. */
  isPretty: boolean;
}

interface Span {
  type: Token["type"];
  start: number;
  end: number;
}

type Container = ObjectNode | ArrayNode;

/** A member of an object or an element of a list. */
interface Item {
  value: ValueNode;
  name?: MemberNode["name"];
  key: string | number;
  start: number;
  end: number;
}

interface Style {
  lineEnd: string;
  /** One step of indentation. */
  unit: string;
  quote: Quote;
  keyQuote: Quote;
  /** Keys go without quotes where they can. */
  hasBareKeys: boolean;
  /** What stands between a key and its value. */
  colon: string;
  /** Whether a last item on a line of its own has a comma too. */
  hasTrailingCommas: boolean;
}

type Quote = '"' | "'";

interface Splice {
  start: number;
  end: number;
  text: string;
}

/** JSON5 has more than one kind of line break, and each of them ends a comment. */
const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/;
/** What new lines end with. The other breaks may stand in a string, where they end nothing. */
const LINE_END = /\r\n|[\n\r]/;
const LINE_BREAKS = /\r\n|[\n\r\u2028\u2029]/g;

/** A list of plain values that is longer than this takes a line for each. */
const LONGEST_LINE = 80;

function readPage(text: string): Page {
  const tree = parsed(text);
  const tokens = (tree.tokens ?? []).map(({ type, loc }): Span => ({
    type,
    start: loc.start.offset,
    end: loc.end.offset,
  }));
  const [start, end] = rangeOf(tree.body);
  const isEmpty = isContainer(tree.body) && itemsOf(tree.body).length === 0;
  return {
    text,
    root: tree.body,
    tokens,
    style: styleOf(text, tree.body, tokens),
    isPretty: isEmpty || LINE_BREAK.test(text.slice(start, end)),
  };
}

/** Throws the same error as loading the text would. */
function parsed(text: string): DocumentNode {
  const problem = parseText(text);
  if (problem.kind === "document") return parse(text, { mode: "json5", tokens: true });
  throw configInvalid([{ ...problem.position, path: "", message: problem.message }]);
}

function valueOf(text: string, node?: ValueNode): unknown {
  const source = node === undefined ? text : text.slice(...rangeOf(node));
  const document = parseText(source);
  if (document.kind === "document") return document.value;
  throw configInvalid([{ ...document.position, path: "", message: document.message }]);
}

/** Whether there is anything but white space and comments. */
function hasValue(text: string): boolean {
  try {
    return tokenize(forParser(text), { mode: "json5" }).some(({ type }) => !isComment(type));
  } catch {
    return true;
  }
}

function withValue(text: string): string {
  if (hasValue(text)) return text;
  const lineEnd = LINE_END.exec(text)?.[0] ?? "\n";
  const isOpen = text.trim() !== "" && !/[\n\r\u2028\u2029]$/.test(text);
  return `${text}${isOpen ? lineEnd : ""}{}${lineEnd}`;
}

function styleOf(text: string, root: ValueNode, tokens: readonly Span[]): Style {
  const strings = tokens.filter(({ type }) => type === "String");
  const singles = strings.filter((each) => text[each.start] === "'").length;
  const [start, end] = rangeOf(root);
  const first = firstMember(root);
  const colon = first?.name && text.slice(rangeOf(first.name)[1], rangeOf(first.value)[0]);
  const quote = singles > strings.length / 2 ? "'" : '"';
  return {
    lineEnd: LINE_END.exec(text)?.[0] ?? "\n",
    unit: indentUnit(text, { start, end }, tokens) ?? "  ",
    quote,
    keyQuote: keyQuote(text, first) ?? quote,
    hasBareKeys: first?.name?.type === "Identifier",
    colon: colon !== undefined && /^ ?: ?$/.test(colon) ? colon : ": ",
    hasTrailingCommas: tokens.some(
      ({ type }, index) => isClosing(type) && lastBefore(tokens, index)?.type === "Comma",
    ),
  };
}

function isClosing(type: Token["type"]): boolean {
  return type === "RBrace" || type === "RBracket";
}

/** The token before this one that is no comment. */
function lastBefore(tokens: readonly Span[], index: number): Span | undefined {
  let at = index - 1;
  while (isComment(tokens[at]?.type)) at--;
  return tokens[at];
}

function keyQuote(text: string, item: Item | undefined): Quote | undefined {
  const first = item?.name && text[item.start];
  return first === "'" || first === '"' ? first : undefined;
}

/** The first member of the outermost object that has any. */
function firstMember(node: ValueNode): Item | undefined {
  if (!isContainer(node)) return undefined;
  const items = itemsOf(node);
  if (node.type === "Object" && items[0] !== undefined) return items[0];
  for (const { value } of items) {
    const found = firstMember(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** How much deeper the first line inside a value is than the line that it begins on. */
function indentUnit(
  text: string,
  { start, end }: Pick<Span, "start" | "end">,
  tokens: readonly Span[],
): string | undefined {
  const first = tokens.find(
    (each) =>
      each.start > start && each.end < end && !isComment(each.type) && startsLine(text, each.start),
  );
  const outer = indentAt(text, start);
  const inner = first === undefined ? "" : indentAt(text, first.start);
  return inner.startsWith(outer) ? inner.slice(outer.length) || undefined : undefined;
}

function isContainer(node: ValueNode): node is Container {
  return node.type === "Object" || node.type === "Array";
}

function containerOf(node: ValueNode, step: string | number, path: KeyPath): Container {
  if (isContainer(node) && (node.type === "Object") === (typeof step === "string")) return node;
  const expected = typeof step === "string" ? "an object" : "a list";
  throw configInvalid([
    { path: path.join("."), message: `is not ${expected}; expected ${expected}` },
  ]);
}

function itemsOf(node: Container): Item[] {
  const nodes: readonly (MemberNode | ElementNode)[] =
    node.type === "Object" ? node.members : node.elements;
  return nodes.map((each, index) => {
    const [start, end] = rangeOf(each.value);
    if (each.type === "Element") return { value: each.value, key: index, start, end };
    const { name, value } = each;
    const key = name.type === "Identifier" ? name.name : name.value;
    return { value, name, key, start: rangeOf(name)[0], end };
  });
}

/** The last one of a key that is there twice, as a reader takes it. */
function findItem(node: Container, step: string | number): Item | undefined {
  return itemsOf(node).findLast(({ key }) => key === step);
}

function rangeOf({ loc }: Pick<ValueNode, "loc">): [start: number, end: number] {
  return [loc.start.offset, loc.end.offset];
}

function isComment(type: Token["type"] | undefined): boolean {
  return type === "LineComment" || type === "BlockComment";
}

// Places in the text

function lineStart(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && !isBreak(text.charCodeAt(at - 1))) at--;
  return at;
}

function isBreak(character: number): boolean {
  return character === 10 || character === 13 || character === 0x2028 || character === 0x2029;
}

function startsLine(text: string, offset: number): boolean {
  let at = offset;
  while (at > 0 && !isBreak(text.charCodeAt(at - 1)) && isBlank(text, at - 1)) at--;
  return at === 0 || isBreak(text.charCodeAt(at - 1));
}

function isBlank(text: string, offset: number): boolean {
  return text.charAt(offset).trim() === "";
}

/** The white space at the beginning of the line. */
function indentAt(text: string, offset: number): string {
  const start = lineStart(text, offset);
  // A byte order mark is white space too, and only belongs at the very beginning.
  return /^[ \t]*/.exec(text.slice(start, offset).replace(/^\uFEFF/, ""))?.[0] ?? "";
}

/** The offset of the line break, where nothing but white space is left on the line; else undefined. */
function restOfLine(text: string, offset: number): number | undefined {
  let at = offset;
  while (at < text.length && isBlank(text, at) && !isBreak(text.charCodeAt(at))) at++;
  return at === text.length || isBreak(text.charCodeAt(at)) ? at : undefined;
}

/** The index of the first token that begins at `offset` or behind it. */
function tokenIndex({ tokens }: Page, offset: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commaAfter(page: Page, offset: number): Span | undefined {
  let index = tokenIndex(page, offset);
  while (isComment(page.tokens[index]?.type)) index++;
  const next = page.tokens[index];
  return next?.type === "Comma" ? next : undefined;
}

/** The comments that begin on the line of `offset`, and nothing else before them. */
function commentsBehind(page: Page, offset: number): Span[] {
  const found: Span[] = [];
  let at = offset;
  for (let index = tokenIndex(page, offset); ; index++) {
    const next = page.tokens[index];
    if (next === undefined || !isComment(next.type)) return found;
    if (LINE_BREAK.test(page.text.slice(at, next.start))) return found;
    found.push(next);
    at = next.end;
  }
}

// Adding

function insertion(
  page: Page,
  container: Container,
  step: string | number,
  value: unknown,
): Splice[] {
  const items = itemsOf(container);
  if (typeof step === "number" && step !== items.length) throw noElement(items.length, step);
  const last = items.at(-1);
  const style = styleBeside(page, items);
  const item = (indent: string | undefined): string => {
    const key = typeof step === "string" ? `${writtenKey(step, style)}${style.colon}` : "";
    return `${key}${written(value, indent, style)}`;
  };
  return last === undefined
    ? firstInsertion(page, container, item)
    : nextInsertion(page, last, item, style);
}

/** The items before the new one show how keys are written. A key that cannot go without quotes says nothing about others. */
function styleBeside({ text, style }: Page, items: readonly Item[]): Style {
  const last = items.at(-1);
  if (last?.name === undefined) return style;
  const telling = items.findLast(({ key }) => canBeBare(String(key)));
  return {
    ...style,
    hasBareKeys: telling === undefined ? style.hasBareKeys : telling.name?.type === "Identifier",
    keyQuote: keyQuote(text, last) ?? style.keyQuote,
  };
}

function firstInsertion(
  page: Page,
  container: Container,
  item: (indent: string | undefined) => string,
): Splice[] {
  const { text, style, isPretty } = page;
  const [from, to] = rangeOf(container);
  const [start, end] = [from + 1, to - 1];
  const inside = text.slice(start, end);
  const outer = indentAt(text, from);
  const { lineEnd, hasTrailingCommas } = style;
  const comma = hasTrailingCommas ? "," : "";
  if (inside.trim() === "") {
    const indent = `${outer}${style.unit}`;
    const lines = `${lineEnd}${indent}${item(indent)}${comma}${lineEnd}${outer}`;
    const padding = container.type === "Object" && !isTight(style) ? " " : "";
    const added = isPretty ? lines : `${padding}${item(undefined)}${padding}`;
    return [{ start, end, text: added }];
  }
  // Only comments are in it. The item comes before those on lines of their own: they would be taken for its own.
  const behind = commentsBehind(page, start).at(-1)?.end ?? start;
  if (!LINE_BREAK.test(inside))
    return [{ start: behind, end: behind, text: ` ${item(undefined)}` }];
  const comment = page.tokens.find((each) => each.start >= start && startsLine(text, each.start));
  const isInside = comment !== undefined && comment.end <= end;
  const indent = isInside ? indentAt(text, comment.start) : `${outer}${style.unit}`;
  const at = restOfLine(text, behind) ?? behind;
  return [{ start: at, end: at, text: `${lineEnd}${indent}${item(indent)}${comma}` }];
}

function nextInsertion(
  page: Page,
  last: Item,
  item: (indent: string | undefined) => string,
  style: Style,
): Splice[] {
  const { text } = page;
  const comma = commaAfter(page, last.end);
  const behind = commentsBehind(page, comma?.end ?? last.end);
  const tail = behind.at(-1)?.end ?? comma?.end ?? last.end;
  const needsLine = behind.some(({ type }) => type === "LineComment");
  if (!startsLine(text, last.start) && !needsLine) {
    const gap = isTight(style) ? "" : " ";
    const added = comma ? `${gap}${item(undefined)},` : `,${gap}${item(undefined)}`;
    return [{ start: tail, end: tail, text: added }];
  }
  const indent = indentAt(text, last.start);
  const at = restOfLine(text, tail) ?? tail;
  return [
    ...(comma ? [] : [{ start: last.end, end: last.end, text: "," }]),
    { start: at, end: at, text: `${style.lineEnd}${indent}${item(indent)}${comma ? "," : ""}` },
  ];
}

/** The path's last steps as a value. */
function nested(path: KeyPath, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => {
    if (typeof step === "string") return Object.assign(bare(), { [step]: inner });
    if (step === 0) return [inner];
    throw noElement(0, step);
  }, value);
}

function noElement(length: number, step: number): Error {
  return new RangeError(`a list of ${length} elements has no element ${step}`);
}

/** Without a prototype, so that `__proto__` is a key like any other. */
function bare(): JsonObject {
  return Object.create(null) as JsonObject;
}

/** For comparing: the edited value and the value that is read back may differ in their prototypes. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  const copy = bare();
  for (const [key, each] of Object.entries(value)) if (each !== undefined) copy[key] = plain(each);
  return copy;
}

// Writing

/** On lines with this indentation; without one, on the line that it stands on. */
function written(value: unknown, indent: string | undefined, style: Style): string {
  if (Array.isArray(value)) return writtenList(value, indent, style);
  if (isJsonObject(value)) {
    const members = Object.entries(value).filter(([, each]) => each !== undefined);
    const inner = indent === undefined ? undefined : `${indent}${style.unit}`;
    const lines = members.map(
      ([key, each]) => `${writtenKey(key, style)}${style.colon}${written(each, inner, style)}`,
    );
    return enclosed(lines, ["{", "}"], indent, style);
  }
  if (typeof value === "string") return writtenString(value, style.quote);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  return value === undefined ? "null" : JSON.stringify(value);
}

function writtenList(list: readonly unknown[], indent: string | undefined, style: Style): string {
  const inline = enclosed(
    list.map((each) => written(each, undefined, style)),
    ["[", "]"],
    undefined,
    style,
  );
  if (indent === undefined) return inline;
  const isPlain = list.every((each) => typeof each !== "object" || each === null);
  if (isPlain && indent.length + inline.length <= LONGEST_LINE) return inline;
  const lines = list.map((each) => written(each, `${indent}${style.unit}`, style));
  return enclosed(lines, ["[", "]"], indent, style);
}

function enclosed(
  parts: readonly string[],
  [open, close]: readonly [string, string],
  indent: string | undefined,
  style: Style,
): string {
  if (parts.length === 0) return `${open}${close}`;
  if (indent === undefined) {
    const padding = open === "{" && !isTight(style) ? " " : "";
    return `${open}${padding}${parts.join(isTight(style) ? "," : ", ")}${padding}${close}`;
  }
  const { lineEnd, unit, hasTrailingCommas } = style;
  const lines = parts.map((part) => `${lineEnd}${indent}${unit}${part}`);
  const comma = hasTrailingCommas ? "," : "";
  return `${open}${lines.join(",")}${comma}${lineEnd}${indent}${close}`;
}

/** As `JSON.stringify` writes without indentation. */
function isTight({ colon }: Style): boolean {
  return colon === ":";
}

function writtenKey(key: string, { hasBareKeys, keyQuote: quote }: Style): string {
  return hasBareKeys && canBeBare(key) ? key : writtenString(key, quote);
}

function canBeBare(key: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(key);
}

function writtenString(value: string, quote: Quote): string {
  const text = JSON.stringify(value);
  if (quote === '"') return text;
  return `'${text.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

// Removing

function removal(page: Page, container: Container, index: number): Splice[] {
  const { text } = page;
  const items = itemsOf(container);
  const item = items[index];
  if (item === undefined) return [];
  const comma = commaAfter(page, item.end);
  const previous = items[index - 1];
  // Without it, the item before this one would be followed by a comma and nothing.
  const spare = comma || !previous ? undefined : commaAfter(page, previous.end);
  const own = wholeLines(page, item, comma) ?? inLine(page, item, comma, index < items.length - 1);
  if (items.length === 1) {
    const [from, to] = rangeOf(container);
    const [start, end] = [from + 1, to - 1];
    const rest = applied(text.slice(start, end), [
      { start: own.start - start, end: own.end - start, text: "" },
    ]);
    if (rest.trim() === "") return [{ start, end, text: "" }];
  }
  if (spare === undefined) return [own];
  return spare.end >= own.start
    ? [{ ...own, start: Math.min(spare.start, own.start) }]
    : [{ start: spare.start, end: spare.end, text: "" }, own];
}

/** The lines of an item that shares them with nothing, with its comments; else undefined. */
function wholeLines(page: Page, item: Item, comma: Span | undefined): Splice | undefined {
  const { text } = page;
  const first = startWithComments(page, item.start);
  if (!startsLine(text, first)) return undefined;
  const last = comma?.end ?? item.end;
  const end = restOfLine(text, commentsBehind(page, last).at(-1)?.end ?? last);
  if (end === undefined) return undefined;
  const start = lineStart(text, first);
  // The line break before the lines goes, and the one behind them stays.
  const lineEnd = text.slice(0, start).endsWith("\r\n") ? 2 : 1;
  return { start: start - lineEnd, end, text: "" };
}

/** Where the comments begin that stand directly before an item, each from the beginning of its line. */
function startWithComments(page: Page, start: number): number {
  const { text } = page;
  let first = start;
  let at = start;
  for (let index = tokenIndex(page, start) - 1; ; index--) {
    const before = page.tokens[index];
    if (before === undefined || !isComment(before.type)) return first;
    if ([...text.slice(before.end, at).matchAll(LINE_BREAKS)].length > 1) return first;
    at = before.start;
    if (startsLine(text, at)) first = at;
  }
}

function inLine(page: Page, item: Item, comma: Span | undefined, hasNext: boolean): Splice {
  const { text } = page;
  const before = page.tokens[tokenIndex(page, item.start) - 1];
  // A comment to the end of its line needs the line break behind it.
  const tight = before === undefined || before.type === "LineComment" ? item.start : before.end;
  const end = comma?.end ?? item.end;
  if (!hasNext) return { start: tight, end, text: "" };
  const lineEnd = restOfLine(text, end);
  if (lineEnd !== undefined) return { start: tight, end: lineEnd, text: "" };
  return { start: item.start, end: page.tokens[tokenIndex(page, end)]?.start ?? end, text: "" };
}

/** The splices are in order and do not overlap. */
function applied(text: string, splices: readonly Splice[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text: added } of splices) {
    result += text.slice(at, start) + added;
    at = end;
  }
  return result + text.slice(at);
}
