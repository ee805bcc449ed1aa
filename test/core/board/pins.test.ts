import { beforeEach, describe, expect, it } from "vitest";
import { changesOf, compareTools, pendingParts, PinReview } from "../../../src/core/board/pins.ts";
import { observe, toSighting } from "../../../src/core/guard/pins/pin.ts";
import { PinFiles } from "../../../src/core/state/files/pin-files.ts";
import type { PinEntry, ServerPins } from "../../../src/core/types/pin.ts";
import type { ToolDefinition } from "../../../src/core/types/tool.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const id = { server: "docs", key: "k" };
const read: ToolDefinition = { name: "read", description: "Reads.", inputSchema: {} };
const list: ToolDefinition = { name: "list", inputSchema: {} };

let stateDir = "";
let review: PinReview;

beforeEach(() => {
  stateDir = temporaryDirectory();
  review = new PinReview(new PinFiles({ stateDir }));
});

async function see(tools: ToolDefinition[], instructions = "", where = stateDir): Promise<void> {
  const sighting = toSighting(tools, instructions, 1);
  await new PinFiles({ stateDir: where }).update(id, (pins) => observe(pins, id, sighting));
}

async function pinned(): Promise<ServerPins> {
  const [pins] = await review.list();
  if (pins === undefined) throw new Error("nothing is pinned");
  return pins;
}

async function entry(tool?: string): Promise<PinEntry> {
  const pins = await pinned();
  if (tool === undefined) return { kind: "instructions", pins, pin: pins.instructions };
  const pin = pins.tools.get(tool);
  if (pin === undefined) throw new Error(`${tool} is not pinned`);
  return { kind: "tool", pins, tool, pin };
}

describe("a change", () => {
  beforeEach(async () => {
    await see([read], "Be brief.");
    await see([{ ...read, description: "Sends." }, list], "Be loud.");
  });

  it.each<[string, string | undefined, unknown, string[]]>([
    [
      "of a tool",
      "read",
      [{ path: "description", before: "Reads.", after: "Sends." }],
      ["description"],
    ],
    ["to a new tool", "list", [], ["new"]],
    [
      "of instructions",
      undefined,
      [{ path: "instructions", before: "Be brief.", after: "Be loud." }],
      ["instructions"],
    ],
  ])("%s is shown", async (_, tool, changes, parts) => {
    const shown = await entry(tool);
    expect(changesOf(shown)).toEqual({ changes, isCut: false });
    expect(pendingParts(shown)).toEqual(parts);
  });

  it("is approved as it was looked at", async () => {
    for (const tool of ["read", "list", undefined]) {
      expect(await review.approve(await entry(tool))).toBe(true);
      expect((await entry(tool)).pin.kind).toBe("pinned");
    }
  });

  it("is not approved once something else has replaced it", async () => {
    const looked = [await entry("read"), await entry()];
    await see([{ ...read, description: "Worse." }, list], "Worse.");
    for (const each of looked) expect(await review.approve(each)).toBe(false);
    expect((await entry("read")).pin.kind).toBe("changed");
  });

  it("is forgotten with its tool, or with the whole server", async () => {
    const looked = await entry("read");
    await review.forget(id, "read");
    expect([...(await pinned()).tools.keys()]).toEqual(["list"]);
    expect(await review.approve(looked)).toBe(false);
    await review.forget(id);
    expect(await review.list()).toEqual([]);
    expect(await review.approve(looked)).toBe(false);
  });
});

describe("a server that is pinned in two places", () => {
  const sent = { ...read, description: "Sends." };

  it.each(["the first", "the second", "both"])(
    "waits in %s: it is shown and approved once",
    async (where) => {
      const other = temporaryDirectory();
      for (const [name, place] of [
        ["the first", stateDir],
        ["the second", other],
      ] as const) {
        await see(where === name || where === "both" ? [read, list] : [sent, list], "", place);
        await see([sent, list], "", place);
      }
      const stores = [stateDir, other].map((place) => new PinFiles({ stateDir: place }));
      review = new PinReview(...stores);
      expect(await review.list()).toHaveLength(1);
      expect((await entry("read")).pin.kind).toBe("changed");
      expect(await review.approve(await entry("read"))).toBe(true);
      expect((await entry("read")).pin.kind).toBe("pinned");
      await review.forget(id);
      expect(await Promise.all(stores.map((store) => store.list()))).toEqual([[], []]);
    },
  );
});

describe("two versions of a server", () => {
  const long = "x".repeat(15_000);

  it.each<[what: string, before: ToolDefinition[], after: ToolDefinition[], expected: object[]]>([
    ["with the same tools", [read, list], [list, read], []],
    ["without a tool", [read, list], [read], [{ tool: "list", kind: "removed", changes: [] }]],
    [
      "with another one",
      [list],
      [list, read],
      [{ tool: "read", kind: "new", changes: [{ path: "description", after: "Reads." }] }],
    ],
    [
      "with a long description that has changed at its end",
      [{ ...read, description: `${long} Reads.` }],
      [{ ...read, description: `${long} Sends.\u200b` }],
      [
        {
          tool: "read",
          kind: "changed",
          changes: [
            {
              path: "description",
              before: `${long} Reads.`,
              after: `${long} Sends.\\u{200b}`,
            },
          ],
        },
      ],
    ],
    [
      "with other arguments",
      [{ ...read, inputSchema: { type: "object", properties: {} } }],
      [{ ...read, inputSchema: { type: "object", properties: { to: { type: "string" } } } }],
      [
        {
          tool: "read",
          kind: "changed",
          changes: [{ path: "inputSchema.properties.to", after: '{"type":"string"}' }],
        },
      ],
    ],
  ])("%s", (_, before, after, expected) => {
    expect(compareTools(before, after)).toMatchObject(expected);
    expect(compareTools(before, after)).toHaveLength(expected.length);
  });
});
