// Whether a bundle is for this machine: its systems, and the versions of what runs it.

import { fault } from "./archive.ts";
import type { Manifest } from "./manifest.ts";
import { oneLine } from "../../util/text.ts";

const SYSTEMS: Readonly<Record<string, string>> = {
  darwin: "macOS",
  linux: "Linux",
  win32: "Windows",
};

/** Throws INVALID_ARGUMENTS for a bundle that is for other systems only. */
export function requirePlatform({ compatibility }: Manifest, platform: string): void {
  const platforms = compatibility?.platforms;
  if (platforms === undefined || platforms.length === 0 || platforms.includes(platform)) return;
  const named = platforms.map((each) => SYSTEMS[each] ?? oneLine(each, 20)).join(" and ");
  throw fault(`it is for ${named}, and this machine runs ${SYSTEMS[platform] ?? platform}`);
}

/** Undefined where the version fits, or nothing is required. */
export function runtimeNote(
  name: string,
  required: string | undefined,
  version: string | undefined,
): string | undefined {
  if (required === undefined) return undefined;
  const wanted = `it needs ${name} ${oneLine(required, 60)}`;
  if (version === undefined) return `${wanted}, and which version you have is not known`;
  const fits = isInRange(version, required);
  if (fits === undefined) return `${wanted}, and you have ${version}`;
  return fits ? undefined : `warning: ${wanted}, and you have ${version}`;
}

const COMPARATOR =
  /^(>=|<=|>|<|==|=|!=|\^|~=|~|)v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:\.[xX*])?$/;

type Version = readonly [number, number, number];

/**
 * Whether a version is in a range as npm or Python write it: `>=18`, `^20.1 || >=22`, `>=3.10,<4`. Undefined for a range
 * that cannot be read.
 */
export function isInRange(version: string, range: string): boolean | undefined {
  const [, ...found] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? [];
  if (found[0] === undefined) return undefined;
  const own: Version = [Number(found[0]), Number(found[1] ?? 0), Number(found[2] ?? 0)];
  const alternatives = new Set(range.split("||").map((each) => allOf(own, each)));
  if (alternatives.has(true)) return true;
  return alternatives.has(undefined) ? undefined : false;
}

function allOf(own: Version, alternative: string): boolean | undefined {
  // An operator may stand apart from its version.
  const joined = alternative.trim().replace(/([<>=~^!])\s+/g, "$1");
  const comparators = joined === "" ? [] : joined.split(/[\s,]+/).filter((each) => each !== "");
  const results = comparators.map((each) => fitsComparator(own, each));
  if (results.includes(undefined)) return undefined;
  return results.every((each) => each === true);
}

function fitsComparator(own: Version, comparator: string): boolean | undefined {
  const [, operator, ...parts] = COMPARATOR.exec(comparator) ?? [];
  if (operator === undefined) return undefined;
  const numbers = parts.map((part) =>
    part === undefined || /[xX*]/.test(part) ? undefined : Number(part),
  );
  const given = numbers.findIndex((each) => each === undefined);
  /** How many of its numbers are given. */
  const precision = given === -1 ? 3 : given;
  const low: Version = [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
  const isFrom = compare(own, low) >= 0;
  const isBefore = (digits: number): boolean => digits === 0 || compare(own, next(low, digits)) < 0;
  switch (operator) {
    case ">=":
      return isFrom;
    case ">":
      return precision > 0 && !isBefore(precision);
    case "<":
      return precision > 0 && !isFrom;
    case "<=":
      return isBefore(precision);
    case "!=":
      return !(isFrom && isBefore(precision));
    case "^": {
      const first = low.findIndex((each) => each > 0);
      return isFrom && isBefore(Math.min(precision, first === -1 ? precision : first + 1));
    }
    case "~":
      return isFrom && isBefore(Math.min(precision, 2));
    case "~=":
      return isFrom && isBefore(Math.max(1, precision - 1));
    default:
      return isFrom && isBefore(precision);
  }
}

/** The first version after all that begin with the same so many numbers. */
function next([major, minor, patch]: Version, digits: number): Version {
  if (digits === 1) return [major + 1, 0, 0];
  return digits === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

function compare(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}
