// What servers and agents may be called.

const LONGEST = 64;

/** What is wrong with a name, or undefined. `reserved` is the one name that means something already. */
export function nameProblem(name: string, reserved: string): string | undefined {
  const length = Array.from(name).length;
  if (length < 1 || length > LONGEST) {
    return `is a name of ${length} characters; expected 1 to ${LONGEST}`;
  }
  if (name.includes("/")) return 'has a "/" in its name; expected one without';
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) {
    return "has a control character in its name; expected one without";
  }
  if (name !== name.trim()) return "has a space at an end of its name; expected one without";
  if (name === reserved) return "is a reserved name; expected another one";
  return undefined;
}
