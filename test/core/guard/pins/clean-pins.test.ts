import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { cleanPins } from "../../../../src/core/guard/pins/clean-pins.ts";
import { observe, toSighting } from "../../../../src/core/guard/pins/pin.ts";
import { PinFiles } from "../../../../src/core/state/files/pin-files.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const id = { server: "docs", key: "k" };

let stateDir: string;

beforeEach(() => {
  stateDir = temporaryDirectory();
});

async function onlyFile(): Promise<string> {
  return join(stateDir, "pins", (await readdir(join(stateDir, "pins")))[0] ?? "");
}

describe("pins with texts that are secrets by now", () => {
  const redact = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value).replaceAll("hunter2", "***"));
  const secretive = (mark: string, extra: string[] = []) =>
    observe(
      undefined,
      id,
      toSighting(
        [
          { name: "read", description: mark, inputSchema: { description: mark } },
          { name: "write", inputSchema: {} },
          ...extra.map((name) => ({ name, inputSchema: {} })),
        ],
        `Use ${mark}.`,
        1,
      ),
    );

  it("lose them when they are read, on disk as well, and still match the tools", async () => {
    await new PinFiles({ stateDir }).update(id, () => secretive("hunter2", ["a-hunter2"]));
    expect(await readFile(await onlyFile(), "utf8")).toContain("hunter2");
    const store = cleanPins(new PinFiles({ stateDir }), redact);
    expect(await store.read(id)).toEqual({ kind: "pinned", pins: secretive("***") });
    expect(await readFile(await onlyFile(), "utf8")).not.toContain("hunter2");
    expect(await new PinFiles({ stateDir }).read(id)).toEqual({
      kind: "pinned",
      pins: secretive("***"),
    });
  });

  it("lose them when they change", async () => {
    await new PinFiles({ stateDir }).update(id, () => secretive("hunter2"));
    const store = cleanPins(new PinFiles({ stateDir }), redact);
    expect(await store.update(id, (before) => before)).toEqual(secretive("***"));
    expect(await readFile(await onlyFile(), "utf8")).not.toContain("hunter2");
  });
});
