// Makes a value that nobody can change.

/** Freezes the value itself, with every object and list in it. It may have any depth. */
export function frozen<Value>(value: Value): Value {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const each = rest.pop();
    if (typeof each !== "object" || each === null || Object.isFrozen(each)) continue;
    rest.push(...Object.values(Object.freeze(each)));
  }
  return value;
}
