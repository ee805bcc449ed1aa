// Looks through a value of any shape, and copies it with other strings. Nothing here recurses: a server's
// value may be nested deeper than the stack, a native tool's may lead back to itself.

/** So many objects are looked at before it is worth remembering which: most values have fewer. */
const UNTRACKED = 256;

type Fields = Record<string, unknown>;

/** Whether `isFound` is true of a string or a key anywhere in the value. */
export function holds(value: unknown, isFound: (text: string) => boolean): boolean {
  if (typeof value === "string") return isFound(value);
  if (!isWalked(value)) return false;
  const queue: object[] = [value];
  let seen: Set<object> | undefined;
  let looked = 0;
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    looked += 1;
    if (looked > UNTRACKED) {
      seen ??= new Set();
      if (seen.has(next)) continue;
      seen.add(next);
    }
    const source = written(next);
    if (typeof source === "string") {
      if (isFound(source)) return true;
      continue;
    }
    if (Array.isArray(source)) {
      for (const child of source) {
        if (typeof child === "string") {
          if (isFound(child)) return true;
        } else if (isWalked(child)) queue.push(child);
      }
      continue;
    }
    const fields = source as Fields;
    for (const key of source instanceof Error
      ? Object.getOwnPropertyNames(source)
      : keysOf(fields)) {
      if (isFound(key)) return true;
      const child = fields[key];
      if (typeof child === "string") {
        if (isFound(child)) return true;
      } else if (isWalked(child)) queue.push(child);
    }
  }
  return false;
}

/** A copy with every string and key through `change`. */
export function rebuild<T>(value: T, change: (text: string) => string): T {
  const copies = new Map<object, unknown>();
  const queue: { source: object; copy: object }[] = [];
  const copyOf = (each: unknown): unknown => {
    if (typeof each === "string") return change(each);
    if (!isWalked(each)) return each;
    if (copies.has(each)) return copies.get(each);
    const source = written(each);
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
    const isError = source instanceof Error;
    for (const key of isError ? Object.getOwnPropertyNames(source) : keysOf(source as Fields)) {
      // Defined, not assigned: `__proto__` is a key like any other.
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

function isWalked(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** What stands for an object where it is written down: a URL and a Date are text there. */
function written(object: object): object | string {
  if (!("toJSON" in object) || typeof object.toJSON !== "function") return object;
  try {
    const json: unknown = object.toJSON();
    return typeof json === "string" || isWalked(json) ? json : object;
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

/** Own ones alone: what a prototype has does not come from the value. */
function keysOf(fields: Fields): string[] {
  return Object.keys(fields);
}
