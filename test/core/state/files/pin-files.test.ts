import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { observe, toSighting } from "../../../../src/core/guard/pins/pin.ts";
import type { ServerPins } from "../../../../src/core/types/pin.ts";
import { UNCHANGED } from "../../../../src/core/types/shared-state.ts";
import { PinFiles } from "../../../../src/core/state/files/pin-files.ts";
import { memoryPins } from "../../../../src/core/state/memory.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const id = { server: "my docs/1", key: "k" };
const sighting = toSighting(
  [
    { name: "read", description: "v1", inputSchema: {} },
    { name: "__proto__", inputSchema: {} },
  ],
  "Be brief.",
  1,
);
const pins = observe(undefined, id, sighting);
const changed = observe(
  pins,
  id,
  toSighting(
    [
      { name: "read", description: "v2", inputSchema: {} },
      { name: "new", inputSchema: {} },
    ],
    "",
    2,
  ),
);

let stateDir: string;

beforeEach(() => {
  stateDir = temporaryDirectory();
});

const files = async () => readdir(join(stateDir, "pins")).catch(() => []);

async function onlyFile(): Promise<string> {
  return join(stateDir, "pins", (await files())[0] ?? "");
}

/** Looks again and again until the work is done. */
async function during(work: Promise<unknown>, look: () => Promise<void>): Promise<void> {
  const ended = { yet: false };
  const end = work.finally(() => {
    ended.yet = true;
  });
  while (!ended.yet) {
    await look();
    // A look that finds no file waits for nothing, and the work must go on.
    await turn();
  }
  await end;
}

describe.each([
  ["on disk", () => new PinFiles({ stateDir })],
  ["in memory", () => memoryPins()],
])("pins %s", (_, make) => {
  it("are read back as they were written", async () => {
    const store = make();
    expect(await store.read(id)).toEqual({ kind: "none" });
    expect(await store.list()).toEqual([]);
    await store.update(id, () => pins);
    expect(await store.read(id)).toEqual({ kind: "pinned", pins });
    await store.update(id, (before) => {
      expect(before).toEqual(pins);
      return changed;
    });
    expect(await store.read(id)).toEqual({ kind: "pinned", pins: changed });
    expect(await store.update(id, () => UNCHANGED)).toEqual(changed);
    expect(await store.lost()).toEqual([]);
  });

  it("are apart for another definition of the same name", async () => {
    const store = make();
    await store.update(id, () => pins);
    expect(await store.read({ ...id, key: "other" })).toEqual({ kind: "none" });
    await store.update({ ...id, key: "a" }, () => ({ ...pins, key: "a" }));
    await store.update({ server: "a", key: "z" }, () => ({ ...pins, server: "a", key: "z" }));
    expect((await store.list()).map(({ server, key }) => `${server} ${key}`)).toEqual([
      "a z",
      "my docs/1 a",
      "my docs/1 k",
    ]);
  });

  it("are gone when they are taken away", async () => {
    const store = make();
    await store.update(id, () => pins);
    expect(await store.update(id, () => undefined)).toBeUndefined();
    expect(await store.read(id)).toEqual({ kind: "none" });
    expect(await store.list()).toEqual([]);
    expect(await store.lost()).toEqual([]);
  });
});

describe("on disk", () => {
  it("a server has one file, with a name that is fit for one, for its owner alone", async () => {
    await new PinFiles({ stateDir }).update(id, () => pins);
    expect(await files()).toEqual([expect.stringMatching(/^my_docs_1-[0-9a-f]{16}\.json$/)]);
    expect((await stat(await onlyFile())).mode & 0o777).toBe(0o600);
  });

  it("nothing is written where nothing changed", async () => {
    const store = new PinFiles({ stateDir });
    await store.update(id, () => pins);
    const { mtimeMs, ino } = await stat(await onlyFile());
    await store.update(id, (before) => before);
    expect(await stat(await onlyFile())).toMatchObject({ mtimeMs, ino });
  });

  it("several writers at once all have their say", async () => {
    const stores = Array.from({ length: 8 }, () => new PinFiles({ stateDir }));
    await stores[0]?.update(id, () => pins);
    await Promise.all(
      stores.map((store, at) =>
        store.update(id, (before) => {
          if (before === undefined) return undefined;
          const pin = pins.tools.get("read");
          const tools = new Map(before.tools);
          if (pin !== undefined) tools.set(`tool-${at}`, pin);
          return { ...before, tools };
        }),
      ),
    );
    const [stored] = (await stores[0]?.list()) ?? [];
    const names = [...(stored?.tools.keys() ?? [])].sort();
    expect(names).toEqual(["__proto__", "read", ...stores.map((_, at) => `tool-${at}`)].sort());
    expect(await files()).toHaveLength(1);
  });

  it("a file that cannot be pins means that they are lost", async () => {
    const store = new PinFiles({ stateDir });
    await store.update(id, () => pins);
    const path = await onlyFile();
    const whole = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    const [name, pin] = (whole["tools"] as [string, ServerPins["instructions"]][])[0] ?? ["", {}];
    const sightOf = { hash: "h", seen: 1, value: 5 };
    const broken: unknown[] = [
      null,
      { ...whole, format: 2 },
      { ...whole, server: 1 },
      { ...whole, redacted: undefined },
      { ...whole, seenWith: undefined },
      { ...whole, seenWith: [1] },
      { ...whole, instructions: undefined },
      { ...whole, instructions: { kind: "pinned", firstSeen: 1, approved: sightOf } },
      { ...whole, instructions: { kind: "odd", firstSeen: 1 } },
      { ...whole, instructions: { kind: "changed", firstSeen: 1, approved: null } },
      { ...whole, tools: {} },
      { ...whole, tools: [[5, pin]] },
      { ...whole, tools: [[name, { ...pin, kind: "new" }]] },
      { ...whole, tools: [[name, { ...pin, approved: { ...sightOf, value: { name } } }]] },
    ];
    for (const content of broken) {
      await writeFile(path, JSON.stringify(content));
      expect(await store.read(id)).toEqual({
        kind: "lost",
        lost: { ...id, file: path, why: "unreadable" },
      });
    }
    expect(await store.list()).toEqual([]);
    expect(await store.lost()).toEqual([{ ...id, file: path, why: "unreadable" }]);
  });

  it.each<[string, () => Promise<void>]>([
    ["its file", async () => rm(await onlyFile())],
    ["the whole directory", async () => rm(join(stateDir, "pins"), { recursive: true })],
  ])(
    "a server that was pinned misses %s, until it is forgotten or pinned again",
    async (_, lose) => {
      const store = new PinFiles({ stateDir });
      await store.update(id, () => pins);
      const file = await onlyFile();
      await lose();
      const lost = { ...id, file, why: "missing" };
      expect(await store.read(id)).toEqual({ kind: "lost", lost });
      expect(await store.lost()).toEqual([lost]);
      await store.update(id, (before, missing) => {
        expect([before, missing]).toEqual([undefined, lost]);
        return UNCHANGED;
      });
      expect(await store.read(id)).toEqual({ kind: "lost", lost });
      await store.update(id, () => pins);
      expect(await store.read(id)).toEqual({ kind: "pinned", pins });
      await lose();
      await store.update(id, () => undefined);
      expect(await store.read(id)).toEqual({ kind: "none" });
    },
  );

  it("pins that are written while others read are there or not yet, never lost", async () => {
    const writer = new PinFiles({ stateDir });
    const reader = new PinFiles({ stateDir });
    for (let round = 0; round < 100; round += 1) {
      const each = { server: "docs", key: String(round) };
      await during(
        writer.update(each, () => ({ ...pins, ...each })),
        async () => expect((await reader.read(each)).kind).not.toBe("lost"),
      );
    }
  });

  it("unreadable pins that are forgotten while others read are not missing afterwards", async () => {
    const writer = new PinFiles({ stateDir });
    const reader = new PinFiles({ stateDir });
    const seen = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      await writer.update(id, () => pins);
      await writeFile(await onlyFile(), "damaged");
      await during(
        writer.update(id, () => undefined),
        async () => {
          const stored = await reader.read(id);
          seen.add(stored.kind === "lost" ? stored.lost.why : stored.kind);
        },
      );
    }
    expect(seen).toContain("unreadable");
    expect(seen).not.toContain("missing");
  });

  it("pins without a record get one when they are read", async () => {
    const store = new PinFiles({ stateDir });
    await store.update(id, () => pins);
    await rm(join(stateDir, "pinned"), { recursive: true });
    await store.read(id);
    await rm(await onlyFile());
    expect(await store.read(id)).toMatchObject({ kind: "lost", lost: { why: "missing" } });
  });

  it("rejects where it cannot write", async () => {
    await mkdir(join(stateDir, "file"), { recursive: true });
    await writeFile(join(stateDir, "file", "pins"), "");
    const store = new PinFiles({ stateDir: join(stateDir, "file") });
    await expect(store.update(id, () => pins)).rejects.toThrow();
  });
});
