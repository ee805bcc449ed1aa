// Patterns with `*` for any characters, also none. A pattern comes from an operator and a name from a
// server, so matching never goes back over a star: its time is bounded by the two lengths, whatever the
// number of stars.

export type Matcher = (name: string) => boolean;

export function compileGlob(pattern: string): Matcher {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  const middle = rest.filter((part) => part !== "");
  const shortest = first.length + last.length;
  return (name) => {
    if (name.length < shortest || !name.startsWith(first) || !name.endsWith(last)) return false;
    const end = name.length - last.length;
    let position = first.length;
    // The leftmost place for each part leaves the most room for the others.
    for (const part of middle) {
      const found = name.indexOf(part, position);
      if (found === -1) return false;
      position = found + part.length;
    }
    return position <= end;
  };
}
