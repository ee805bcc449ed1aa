// Session ids and request states that clients bring back.

import assert from "node:assert/strict";
import { createHash, createSecretKey } from "node:crypto";
import { Sealer } from "../../../src/serve/endpoint/sealed.ts";
import type { Target } from "../target.ts";

const PURPOSES = ["session", "state"] as const;

export function sealedId(): Target {
  let count = 0;
  /** The same in every run. */
  const random = (bytes: number): Buffer =>
    createHash("sha512")
      .update(String((count += 1)))
      .digest()
      .subarray(0, bytes);
  const key = { id: 7, key: createSecretKey(random(32)) };
  const old = { id: 3, key: createSecretKey(random(32)) };
  const find = (id: number) => [key, old].find((each) => each.id === id);
  const sealer = new Sealer({ current: key, find }, random);
  const before = new Sealer({ current: old, find }, random);
  const stranger = new Sealer(
    { current: { id: 7, key: createSecretKey(random(32)) }, find },
    random,
  );
  const values = [{}, { agent: "default", caller: "a", n: 1 }, { long: "é".repeat(200) }];
  /** Everything that we have sealed, and for what. */
  const made = new Map(
    PURPOSES.flatMap((purpose) =>
      [sealer, before].flatMap((each) =>
        values.map((value) => [each.seal(purpose, value), { purpose, value }] as const),
      ),
    ),
  );
  return {
    about: "sealed session ids and request states",
    covers: ["serve/endpoint/sealed.ts"],
    seeds: () => [
      ...made.keys(),
      ...values.map((value) => stranger.seal("session", value)),
      "",
      "AQ",
      "AQcAAAAA",
    ],
    words: ["=", "-", "_", "+", "/", "\n"],
    run(input) {
      const text = input.toString("latin1");
      for (const purpose of PURPOSES) {
        const opened = sealer.open(purpose, text);
        const known = made.get(text);
        const expected = known?.purpose === purpose ? known.value : undefined;
        assert.deepEqual(
          opened,
          expected,
          "it opens only what we sealed, letter for letter and for this purpose",
        );
      }
    },
  };
}
