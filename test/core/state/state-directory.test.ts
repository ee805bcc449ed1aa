import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  checkHome,
  checkStateDirectory,
  otherWriters,
} from "../../../src/core/state/state-directory.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory: string;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  vi.restoreAllMocks();
});

const shared = { PLUGBOARD_SHARED_HOME: "1" };

describe("the state directory", () => {
  it("may be missing", async () => {
    expect(() => checkStateDirectory(join(directory, "none"), {})).not.toThrow();
  });

  it.each<[string, number, Record<string, string>, string | undefined]>([
    ["only yours", 0o700, {}, undefined],
    ["readable by others", 0o755, {}, undefined],
    ["writable by its group", 0o770, {}, "chmod go-w"],
    ["writable by everybody", 0o777, {}, "chmod go-w"],
    ["a volume of an orchestrator", 0o2770, shared, undefined],
    ["a volume that everybody can write to", 0o777, shared, "chmod o-w"],
  ])("that is %s: %o", async (_, mode, env, remedy) => {
    await chmod(directory, mode);
    const checked = (): void => checkStateDirectory(directory, env);
    if (remedy === undefined) expect(checked).not.toThrow();
    else {
      expect(checked).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining(directory),
          hint: expect.stringContaining(`${remedy} ${directory}`),
        }),
      );
    }
  });

  it("of a command must be a directory, and nobody else's", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    expect(() => checkHome(file, {})).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: `${file} is not a directory`,
        hint: expect.stringContaining("set PLUGBOARD_HOME to a directory"),
      }),
    );
    expect(() => checkHome(join(directory, "none"), {})).not.toThrow();
    await chmod(directory, 0o777);
    expect(() => checkHome(directory, {})).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID" }),
    );
  });

  it("with a space in its path has a command that can be pasted", async () => {
    const path = join(directory, "my home");
    await mkdir(path);
    await chmod(path, 0o777);
    expect(() => checkStateDirectory(path, {})).toThrow(
      expect.objectContaining({
        hint: `run: chmod go-w '${path}'`,
      }),
    );
    expect(() => checkStateDirectory(path, shared)).toThrow(
      expect.objectContaining({
        hint: `run: chmod o-w '${path}'\nPLUGBOARD_SHARED_HOME=1 only accepts that its owner and its group can write to it`,
      }),
    );
  });

  it.each<[string, number, Record<string, string>, boolean]>([
    ["trust.json", 0o600, {}, false],
    ["trust.json", 0o644, {}, false],
    ["trust.json", 0o660, {}, true],
    ["approvals.json", 0o606, {}, true],
    ["pins/docs-1.json", 0o666, {}, true],
    ["pinned/docs-1.json", 0o620, {}, true],
    ["auth/grant-1.json", 0o620, {}, true],
    ["auth/grant-1.json", 0o620, shared, false],
    ["auth/grant-1.json", 0o602, shared, true],
    ["bundles/docs@1.0-01234567.json", 0o666, {}, true],
    ["audit.jsonl", 0o666, {}, false],
  ])("with %s of mode %o and %j is refused: %s", async (name, mode, env, isRefused) => {
    const file = join(directory, name);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, "{}");
    await chmod(file, mode);
    const checked = (): void => checkStateDirectory(directory, env);
    if (!isRefused) expect(checked).not.toThrow();
    else {
      expect(checked).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: `other users can write to ${file}, and so change what Plugboard trusts`,
          hint: expect.stringContaining(`run: chmod -R go-w ${directory}`),
        }),
      );
    }
  });

  it("in which others can add pins is refused", async () => {
    await mkdir(join(directory, "pins"));
    await chmod(join(directory, "pins"), 0o777);
    expect(() => checkStateDirectory(directory, {})).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`can write to ${join(directory, "pins")},`),
      }),
    );
  });

  it("of another user is refused, unless it is a shared volume", async () => {
    vi.spyOn(process, "geteuid").mockReturnValue(4_000_000);
    const uid = process.getuid?.();
    // A directory of root counts as your own: root can write everywhere.
    if (uid === 0) expect(() => checkStateDirectory(directory, {})).not.toThrow();
    else {
      expect(() => checkStateDirectory(directory, {})).toThrow(
        expect.objectContaining({
          message: expect.stringContaining(`belongs to another user (uid ${uid})`),
          hint: expect.stringContaining(`chown -R 4000000 ${directory}`),
        }),
      );
    }
    expect(() => checkStateDirectory(directory, shared)).not.toThrow();
  });

  it.each([
    [0o600, false],
    [0o644, false],
    [0o664, true],
    [0o666, true],
  ])("tells whether others can write a file of mode %o: %s", async (mode, expected) => {
    const file = join(directory, "plugboard.json");
    await writeFile(file, "{}");
    await chmod(file, mode);
    expect(otherWriters(file, {}) !== undefined).toBe(expected);
  });
});
