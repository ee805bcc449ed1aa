// Property names that a provider takes, for those of a server: each its own, and the same every time.

const LONGEST = 64;

/** From the server's name to the one that the provider sees. */
export function publicNames(names: Iterable<string>, allowed: RegExp): Map<string, string> {
  const all = [...names];
  const taken = new Set(all.filter((name) => allowed.test(name)));
  const result = new Map<string, string>();
  // How often a name was tried already: thousands that fold to one must not be counted up from 2 each.
  const tries = new Map<string, number>();
  for (const name of all) {
    if (allowed.test(name)) {
      result.set(name, name);
      continue;
    }
    const base = fold(name);
    let chosen = base;
    for (let count = tries.get(base) ?? 1; taken.has(chosen); count += 1) {
      const suffix = `_${count + 1}`;
      chosen = base.slice(0, LONGEST - suffix.length) + suffix;
      tries.set(base, count + 1);
    }
    taken.add(chosen);
    result.set(name, chosen);
  }
  return result;
}

/** Letters, digits and underscores, beginning with a letter: every provider takes that. */
function fold(name: string): string {
  const folded = name
    .slice(0, 4 * LONGEST)
    .replaceAll(/[^a-zA-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .slice(0, LONGEST);
  if (folded === "") return "property";
  return /^[0-9]/.test(folded) ? `n${folded}`.slice(0, LONGEST) : folded;
}
