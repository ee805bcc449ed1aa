// How large a pattern becomes as a program, before it is one: `(a{30}){30}` is eleven characters and 900
// states, and a few lines of such take minutes to compile.

interface Group {
  size: number;
  /** What a repetition that follows repeats. */
  atom: number;
}

/** An upper bound in states; the pattern need not be a valid one. */
export function programSize(pattern: string): number {
  const groups: Group[] = [{ size: 0, atom: 0 }];
  const add = (atom: number): void => {
    const group = groups.at(-1);
    if (group === undefined) return;
    group.size += atom;
    group.atom = atom;
  };
  for (let position = 0; position < pattern.length; position++) {
    const character = pattern[position];
    if (character === "(") {
      groups.push({ size: 2, atom: 0 });
    } else if (character === ")" && groups.length > 1) {
      add(groups.pop()?.size ?? 0);
    } else if (character === "[") {
      position = endOfClass(pattern, position);
      add(1);
    } else if (character === "\\") {
      position += 1;
      add(1);
    } else if (character === "{") {
      const { times, end } = repetition(pattern, position);
      const { atom = 0 } = groups.at(-1) ?? {};
      // Each optional repetition is a state more.
      add(times === 0 ? 1 : atom * times + times);
      position = end;
    } else {
      // What may be empty and is repeated takes a state more.
      add(character === "*" ? 2 : 1);
    }
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}

/** The position of the bracket that closes a class, or the end. */
function endOfClass(pattern: string, start: number): number {
  for (let position = start + 1; position < pattern.length; position++) {
    if (pattern[position] === "\\") position += 1;
    else if (pattern[position] === "]" && position > start + 1) return position;
  }
  return pattern.length;
}

/** `{2,5}`: how often at most, and the position of its end. Anything else in braces repeats nothing. */
function repetition(pattern: string, position: number): { times: number; end: number } {
  const counted = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y;
  counted.lastIndex = position;
  const [text, least, most] = counted.exec(pattern) ?? [];
  if (text === undefined) return { times: 0, end: position };
  return { times: Math.max(1, Number(least), Number(most ?? 0)), end: position + text.length - 1 };
}
