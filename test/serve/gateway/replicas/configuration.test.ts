import { expect, it } from "vitest";
import { differsFromMost } from "../../../../src/serve/gateway/replicas/configuration.ts";

it.each<[own: string | undefined, others: (string | undefined)[], expected: boolean]>([
  ["a", [], false],
  ["a", ["a", "b"], false],
  ["a", ["b"], false],
  ["a", ["b", "b"], true],
  ["a", ["a", "b", "b"], false],
  ["a", ["b", undefined, undefined], false],
  [undefined, ["b"], true],
  [undefined, [], true],
])(
  "a gateway with the configuration %s beside %j differs from most: %s",
  (own, others, expected) => {
    const list = [own, ...others].map((configuration, at) => ({
      id: String(at),
      name: String(at),
      ...(configuration !== undefined && { configuration }),
    }));
    expect(differsFromMost({ own: list[0], list: () => list })).toBe(expected);
    expect(differsFromMost({ own: undefined, list: () => list })).toBe(false);
  },
);
