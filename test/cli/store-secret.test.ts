import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { secretName, storeSecret } from "../../src/cli/store-secret.ts";
import { silentLogger } from "../../src/core/types/logger.ts";
import { systemClock } from "../../src/util/clock.ts";
import { useScratch } from "./harness.ts";
import { temporaryDirectory } from "../support/directory.ts";

const scratch = useScratch();

let home = "";

beforeEach(() => {
  home = temporaryDirectory();
});

/** What a command works with: nothing on the PATH, and a home of its own. */
async function surroundings() {
  const { io, done } = scratch.start(["--version"]);
  await done;
  const env = { PATH: home, HOME: home };
  const { signal } = new AbortController();
  return { io: { ...io, env, homedir: home }, clock: systemClock, logger: silentLogger, signal };
}

describe("storeSecret", () => {
  it("puts a value away under its name, and gives the reference to write", async () => {
    const context = await surroundings();
    const { text } = await storeSecret("openai", "hunter2-1", undefined, context);
    expect(text).toBe("secret://file/~/.plugboard/secrets.json#openai");
    const own = { agent: { secrets: { file: { path: join(home, "own.json") } } } };
    const other = await storeSecret("openai", "hunter2-2", undefined, context, own);
    expect(other.text).toBe("secret://file/~/own.json#openai");
    expect(JSON.parse(readFileSync(join(home, "own.json"), "utf8"))).toEqual({
      openai: "hunter2-2",
    });
  });

  it("leaves another value of the name alone, unless it is to be replaced", async () => {
    const context = await surroundings();
    await storeSecret("a", "hunter2-1", "file", context);
    await storeSecret("a", "hunter2-1", "file", context);
    const second = storeSecret("a", "hunter2-2", "file", context);
    await expect(second).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "secret://file/~/.plugboard/secrets.json#a has another value already",
    });
    await storeSecret("a", "hunter2-2", "file", context, { replaces: true });
    const file = join(home, ".plugboard/secrets.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ a: "hunter2-2" });
  });
});

describe("the name of a secret", () => {
  it.each([
    ["github", "GITHUB_TOKEN", "github-GITHUB_TOKEN"],
    ["My docs", "X-Key", "My-docs-X-Key"],
    ["ü/#}", "a", "a"],
    ["ü", "é", "secret"],
  ])("of %s and %s is %s", (server, key, expected) => {
    expect(secretName(server, key)).toBe(expected);
  });
});
