// Searches and replaces the strings in a value of any shape. Nothing here recurses, because a server's value may
// be nested deeper than the stack, and a native tool's value may contain itself.

/** Visited objects are remembered only after this many: most values have fewer, and remembering costs time. */
const UNTRACKED = 256;

type Fields = Record<string, unknown>;

/** Whether `isFound` is true for a string or a key anywhere in the value. */
export function someString(value: unknown, isFound: (text: string) => boolean): boolean {
  if (typeof value === "string") return isFound(value);
  if (!isContainer(value)) return false;
  const queue: object[] = [value];
  let seen: Set<object> | undefined;
  let visited = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    visited += 1;
    if (visited > UNTRACKED) {
      seen ??= new Set();
      if (seen.has(next)) continue;
      seen.add(next);
    }
    const source = toJson(next);
    if (typeof source === "string") {
      if (isFound(source)) return true;
    } else if (Array.isArray(source)) {
      for (const child of source as unknown[]) if (isFoundIn(child, isFound, queue)) return true;
    } else if (source instanceof Error) {
      for (const key of keysOf(source)) {
        if (isFound(key) || isFoundIn(Reflect.get(source, key), isFound, queue)) return true;
      }
    } else {
      // Every result is searched. This loop makes no list of the keys, and may see inherited ones, which does no harm.
      for (const key in source) {
        if (isFound(key) || isFoundIn((source as Fields)[key], isFound, queue)) return true;
      }
    }
  }
  return false;
}

/** Objects are left for later. */
function isFoundIn(child: unknown, isFound: (text: string) => boolean, queue: object[]): boolean {
  if (typeof child === "string") return isFound(child);
  if (isContainer(child)) queue.push(child);
  return false;
}

/** A copy with every string and key replaced by `change`. */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  const copies = new Map<object, unknown>();
  const queue: { source: object; copy: object }[] = [];
  const copyOf = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (!isContainer(each)) return each;
    if (copies.has(each)) return copies.get(each);
    const source = toJson(each);
    const copy = typeof source === "string" ? change(source) : emptyLike(source);
    copies.set(each, copy);
    if (typeof source !== "string") queue.push({ source, copy: copy as object });
    return copy;
  };
  const result = copyOf(value);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { source, copy } = next;
    if (Array.isArray(source)) {
      for (const child of source) (copy as unknown[]).push(copyOf(child));
      continue;
    }
    for (const key of keysOf(source)) {
      // Assigning `__proto__` would set the prototype.
      Object.defineProperty(copy, change(key), {
        value: copyOf((source as Fields)[key]),
        enumerable: Object.prototype.propertyIsEnumerable.call(source, key),
        writable: true,
        configurable: true,
      });
    }
  }
  return result as T;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** What `JSON.stringify` would write for an object: a URL and a Date become text. */
function toJson(object: object): object | string {
  if (!("toJSON" in object) || typeof object.toJSON !== "function") return object;
  try {
    const json: unknown = object.toJSON();
    return typeof json === "string" || isContainer(json) ? json : object;
  } catch {
    return object;
  }
}

function emptyLike(source: object): object {
  if (Array.isArray(source)) return [];
  const prototype: unknown = Object.getPrototypeOf(source);
  if (!(source instanceof Error)) return Object.create(prototype as object | null) as object;
  return Object.setPrototypeOf(new Error(), prototype as object) as object;
}

/** An error's message and stack are not enumerable. */
function keysOf(source: object): string[] {
  return source instanceof Error ? Object.getOwnPropertyNames(source) : Object.keys(source);
}
