import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Decided } from "../../../../src/serve/gateway/page/decisions.ts";
import { type ChangeKinds, Changes } from "../../../../src/serve/gateway/page/changes.ts";
import type { Visitor } from "../../../../src/serve/gateway/page/visitors.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const MINUTE = 60_000;
const visitor = (nonce: string): Visitor => ({
  role: "owner",
  name: "the owner",
  nonce,
  until: Number.MAX_SAFE_INTEGER,
});
const ANNA = visitor("anna");

function open(given?: ChangeKinds) {
  const clock = new ManualClock();
  const file = { text: "one", written: [] as string[], fails: false };
  const decided: (Decided & { who: string })[] = [];
  const changes = new Changes({
    kinds: given ?? {
      trust: {
        takes: z.strictObject({ kind: z.literal("trust") }),
        plan: async () => ({
          shown: {
            summary: "trust it",
            about: { file: "a.json" },
            starts: [],
            diff: [{ kind: "added", text: "a secret-value here" }],
            warnings: [],
          },
          basis: file.text,
          apply: async () => {
            if (file.fails) throw new PlugboardError("SYSTEM_ERROR", "the disk is full");
            file.written.push(file.text);
            return "done";
          },
        }),
      },
    },
    decisions: {
      record: async ({ nonce }, what) => void decided.push({ ...what, who: nonce }),
    },
    clock,
    random: randomBytes,
    redact: (text) => text.replaceAll("secret-value", "[REDACTED]"),
  });
  return { clock, file, decided, changes };
}

const TRUST = { kind: "trust" };

describe("a change", () => {
  it("is done when what was shown is confirmed, and is in the audit with who did it", async () => {
    const { changes, file, decided } = open();
    const { hash, summary } = await changes.preview(TRUST, ANNA);
    expect([summary, file.written, decided]).toEqual(["trust it", [], []]);
    expect(await changes.confirm(hash, ANNA)).toEqual({ said: "done" });
    expect(file.written).toEqual(["one"]);
    expect(decided).toEqual([{ decided: "trust it", file: "a.json", who: "anna" }]);
  });

  it("is not done twice", async () => {
    const { changes, file } = open();
    const { hash } = await changes.preview(TRUST, ANNA);
    const both = [changes.confirm(hash, ANNA), changes.confirm(hash, ANNA)];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
    ]);
    expect(file.written).toEqual(["one"]);
  });

  it("is refused once it is no longer what was shown", async () => {
    const { changes, file } = open();
    const { hash } = await changes.preview(TRUST, ANNA);
    file.text = "two";
    await expect(changes.confirm(hash, ANNA)).rejects.toThrow("no longer what you were shown");
    expect(file.written).toEqual([]);
  });

  it("is confirmed only by whoever it was shown to, and stays theirs", async () => {
    const { changes } = open();
    const { hash } = await changes.preview(TRUST, ANNA);
    await expect(changes.confirm(hash, visitor("eve"))).rejects.toThrow("nobody has looked");
    const hers = await changes.preview(TRUST, visitor("eve"));
    await expect(changes.confirm(hers.hash, ANNA)).rejects.toThrow("nobody has looked");
    expect(await changes.confirm(hash, ANNA)).toEqual({ said: "done" });
  });

  it("is forgotten after a while, and where one visitor looks at too many", async () => {
    const { changes, clock, file } = open();
    const { hash } = await changes.preview(TRUST, ANNA);
    await clock.advance(10 * MINUTE);
    await expect(changes.confirm(hash, ANNA)).rejects.toThrow("nobody has looked");
    const first = await changes.preview(TRUST, ANNA);
    for (let at = 0; at < 16; at += 1) {
      file.text = `text ${at}`;
      await changes.preview(TRUST, ANNA);
    }
    await expect(changes.confirm(first.hash, ANNA)).rejects.toThrow("nobody has looked");
  });

  it("that fails is in the audit with why", async () => {
    const { changes, file, decided } = open();
    const { hash } = await changes.preview(TRUST, ANNA);
    file.fails = true;
    await expect(changes.confirm(hash, ANNA)).rejects.toThrow("the disk is full");
    expect(decided).toMatchObject([{ decided: "trust it", failed: "SYSTEM_ERROR" }]);
  });

  it.each([{}, { kind: "toString" }, { kind: "entry" }, { kind: "trust", more: 1 }])(
    "is not %j",
    async (given) => {
      const { changes } = open();
      await expect(changes.preview(given, ANNA)).rejects.toThrow(PlugboardError);
    },
  );

  it("of a kind that the gateway does not know is refused, and no file is blamed where there is one", async () => {
    const hintOf = (kinds?: ChangeKinds): Promise<unknown> =>
      open(kinds)
        .changes.preview({ kind: "moon" }, ANNA)
        .catch(({ code, hint }: PlugboardError) => [code, hint]);
    expect(await hintOf()).toEqual(["UNSUPPORTED", undefined]);
    expect(await hintOf({})).toEqual([
      "UNSUPPORTED",
      "it has no configuration file that it could change",
    ]);
  });

  it("is shown without credentials", async () => {
    const { changes } = open();
    const { diff } = await changes.preview(TRUST, ANNA);
    expect(diff).toEqual([{ kind: "added", text: "a [REDACTED] here" }]);
  });
});
