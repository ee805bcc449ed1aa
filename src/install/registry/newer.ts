// Which of two versions is newer.

/** Whether `version` is newer than `than`. Where they cannot be compared, any other version counts as newer. */
export function isNewer(version: string, than: string): boolean {
  if (version === than) return false;
  const [one, other] = [parse(version), parse(than)];
  if (one === undefined || other === undefined) return true;
  for (const [at, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return comparePreReleases(one.pre, other.pre) > 0;
}

interface Version {
  numbers: number[];
  /** Empty for a release, which is newer than what came before it. */
  pre: string[];
}

/** Semantic versions, and those with fewer or more numbers. */
function parse(version: string): Version | undefined {
  const [, numbers = "", pre] =
    /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:-([\w.-]+))?(?:\+[\w.-]*)?$/.exec(version) ?? [];
  if (numbers === "") return undefined;
  const padded = [...numbers.split(".").map(Number), 0, 0, 0].slice(0, 4);
  return { numbers: padded, pre: pre === undefined ? [] : pre.split(".") };
}

function comparePreReleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const [mine, theirs] = [one[at], other[at]];
    if (mine === undefined || theirs === undefined) return mine === undefined ? -1 : 1;
    if (mine === theirs) continue;
    const areNumbers = [mine, theirs].map((part) => /^\d+$/.test(part));
    if (areNumbers[0] && areNumbers[1]) return Number(mine) - Number(theirs);
    // A number comes before a word.
    if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1;
    return mine < theirs ? -1 : 1;
  }
  return 0;
}
