// `plugboard acp --sign-in model`: a key is typed unseen, checked, kept for its owner alone, shown as there, and
// forgotten.

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { ModelKeyFile } from "../../../src/core/state/model-key-file.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
const KEY = "sk-ant-0123456789abcdef";
const GIVEN = { kind: "key", key: KEY };

/** Keeps one file for each entry. */
const KEYRING = `#!/bin/sh
case "$1" in
  lookup) /bin/cat "$0.$3.$5" 2>/dev/null || exit 1 ;;
  store) /bin/cat > "$0.$4.$6" ;;
  clear) /bin/rm "$0.$3.$5" 2>/dev/null || exit 1 ;;
esac
`;

let keys: ModelKeyFile;
beforeEach(() => {
  keys = new ModelKeyFile(join(scratch.directory, "home"));
});

/** Answers each question with a line of its own, once it is asked. */
async function answer(lines: readonly string[], env: Record<string, string> = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Sink({ columns: 200 });
  // No keyring of this machine is used.
  const own = { PATH: join(scratch.directory, "bin"), ...env };
  const { done } = scratch.start(["acp", "--sign-in", "model"], { stdin, stderr, env: own });
  let asked = 0;
  for (const line of lines) {
    const question = [/number\? $/, /(?:shown|one)\): $/, /\[y\/N\] $/][asked++] ?? /$/;
    while (!question.test(stderr.text))
      await new Promise((resolve) => stderr.once("said", resolve));
    stdin.write(`${line}\n`);
  }
  return done;
}

describe("a key", () => {
  it.each([["anthropic"], ["1"]])("is kept for %s", async (provider) => {
    const { code, stdout, stderr } = await answer([provider, KEY]);
    expect([code, stdout]).toEqual([
      0,
      `the key for anthropic is stored in ${keys.path}, which only you can read\n`,
    ]);
    expect(stdout + stderr).not.toContain(KEY);
    expect(Object.fromEntries(await keys.read())).toEqual({ anthropic: GIVEN });
    if (process.platform !== "win32") expect(statSync(keys.path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["a provider that there is not", ["mistral"], "there are anthropic, openai, google"],
    ["a key of somebody else", ["openai", KEY], "this is a key for anthropic, not for openai"],
    ["a key that is cut", ["anthropic", "sk-ant"], "16 to 1000 characters, and this has 6"],
    ["a key with a space in it", ["anthropic", "sk-ant 0123456789ab"], "has no spaces"],
    ["a key with other letters", ["anthropic", "sk-ant-0123456789äb"], "only ASCII"],
  ])("is refused: %s", async (_, lines, message) => {
    const { code, stderr } = await answer(lines);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(keys.path)).toBe(false);
  });

  it("is not given by somebody who answers nothing", async () => {
    expect(await answer([""])).toMatchObject({ code: 3 });
    expect(await answer(["google", ""])).toMatchObject({ code: 3 });
    expect(existsSync(keys.path)).toBe(false);
  });

  it("that is stored is shown as there, never itself", async () => {
    await keys.store("anthropic", { kind: "key", key: KEY });
    const { code, stderr } = await answer([""], { ANTHROPIC_API_KEY: "x", OPENAI_API_KEY: "y" });
    expect(code).toBe(0);
    expect(stderr).toContain(
      "1) anthropic  a key is stored, but ANTHROPIC_API_KEY is set and comes first\n" +
        "  2) openai     OPENAI_API_KEY is set\n  3) google     no key\n",
    );
    expect(stderr).not.toContain(KEY);
  });

  it.each([
    ["yes", "the key for anthropic is deleted\n", {}],
    ["no", "", { anthropic: GIVEN }],
  ])("is forgotten if the person answers: %s", async (word, said, left) => {
    await keys.store("anthropic", { kind: "key", key: KEY });
    const { code, stdout } = await answer(["anthropic", "", word]);
    expect([code, stdout]).toEqual([0, said]);
    expect(Object.fromEntries(await keys.read())).toEqual(left);
  });

  describe.runIf(process.platform === "linux")("where there is a keyring that works", () => {
    const REFERENCE = "secret://keyring/plugboard/model-anthropic";
    const entry = (): string =>
      join(scratch.directory, "bin/secret-tool.plugboard.model-anthropic");

    beforeEach(() => {
      mkdirSync(join(scratch.directory, "bin"));
      chmodSync(scratch.file("bin/secret-tool", KEYRING), 0o755);
    });

    it("is kept there, with a reference in the file, and removed from there", async () => {
      const { code, stdout } = await answer(["anthropic", KEY]);
      expect([code, stdout]).toEqual([
        0,
        `the key for anthropic is stored in the keyring of this machine (${REFERENCE})\n`,
      ]);
      expect(readFileSync(entry(), "utf8")).toBe(KEY);
      expect(readFileSync(keys.path, "utf8")).not.toContain(KEY);
      expect(await keys.read()).toEqual(
        new Map([
          ["anthropic", { kind: "reference", reference: REFERENCE, since: expect.any(Number) }],
        ]),
      );
      const forgotten = await answer(["anthropic", "", "yes"]);
      expect(forgotten).toMatchObject({ code: 0, stdout: "the key for anthropic is deleted\n" });
      expect(forgotten.stderr).toContain("1) anthropic  a key is stored in the keyring\n");
      expect([existsSync(entry()), existsSync(keys.path)]).toEqual([false, false]);
    });

    it("takes the place of one in the file, and of an earlier one", async () => {
      await keys.store("anthropic", { kind: "key", key: "sk-ant-old-0123456789" });
      await answer(["anthropic", KEY]);
      await answer(["anthropic", `${KEY}2`]);
      expect(readFileSync(entry(), "utf8")).toBe(`${KEY}2`);
      expect(readFileSync(keys.path, "utf8")).not.toContain("sk-ant-");
    });

    it("that cannot be removed is not used any more, and you are told", async () => {
      await answer(["anthropic", KEY]);
      scratch.file("bin/secret-tool", "#!/bin/sh\necho 'it is locked' >&2\nexit 1\n");
      const { code, stderr } = await answer(["anthropic", "", "yes"]);
      expect(code).not.toBe(0);
      expect(stderr).toContain(`it is still in the keyring (${REFERENCE})`);
      expect(existsSync(keys.path)).toBe(false);
    });
  });

  it("cannot be piped in", async () => {
    const { code, stderr } = await scratch.run(["acp", "--sign-in", "model"], {
      stdin: `1\n${KEY}\n`,
    });
    expect(code).toBe(2);
    expect(stderr).toContain("a key can only be typed in a terminal");
    expect(stderr).toContain("elsewhere set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY");
  });
});
