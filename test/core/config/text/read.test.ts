import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfigText } from "../../../../src/core/config/text/read.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { failure, problemLines, writeConfig } from "../files.ts";

const UTF16 = new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]);

describe("a configuration file", () => {
  it("is read as UTF-8", async () => {
    expect(await readConfigText(await writeConfig("{ a: 'ü🙂' }"))).toBe("{ a: 'ü🙂' }");
  });

  it("may start with a byte order mark", async () => {
    expect(await readConfigText(await writeConfig("\u{feff}{}"))).toBe("{}");
  });

  it("may have 4 MiB", async () => {
    const text = `{}${" ".repeat(4 * 1024 * 1024 - 2)}`;
    expect(await readConfigText(await writeConfig(text))).toBe(text);
  });

  it.each([
    ["empty", "", "the file is empty; expected an object such as { mcpServers: { … } }"],
    ["blank", " \n\t\n", "the file is empty; expected an object such as { mcpServers: { … } }"],
    ["in UTF-16", UTF16, "is not UTF-8 text; save it as UTF-8"],
    [
      "larger than 4 MiB",
      " ".repeat(4 * 1024 * 1024 + 1),
      "is larger than 4 MiB; expected a configuration file",
    ],
  ])("is refused when it is %s", async (_, content, message) => {
    const file = await writeConfig(content);
    const error = await failure(() => readConfigText(file));
    expect(error).toMatchObject({ code: "CONFIG_INVALID", permanent: true });
    expect(error.problems).toEqual([{ file, path: "", message }]);
    expect(problemLines(error, file)).toEqual([`FILE  ${message}`]);
  });

  it.each([
    ["is not there", "missing.json", "there is no such file"],
    ["is below a file", "plugboard.json/x", "there is no such file"],
    ["is a directory", "", "is a directory; expected a file"],
    ["has a name that cannot be", "x".repeat(300), "cannot be read (ENAMETOOLONG)"],
  ])("is refused when it %s", async (_, name, message) => {
    const file = join(await writeConfig("{}"), "..", name);
    const error = await failure(() => readConfigText(file));
    expect(error.problems).toEqual([{ file, path: "", message }]);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it("keeps the reason of anything else", async () => {
    const error = await failure(() => readConfigText(join("\0", "x")));
    expect(error.problems).toMatchObject([{ message: "cannot be read (ERR_INVALID_ARG_VALUE)" }]);
  });
});

it.runIf(process.platform === "linux").each([
  ["a named pipe", (path: string) => execFileSync("mkfifo", [path])],
  ["a device", (path: string) => execFileSync("ln", ["-s", "/dev/zero", path])],
])("%s is no configuration file, and nobody waits for it", async (_, place) => {
  const path = join(temporaryDirectory(), "plugboard.json");
  place(path);
  await expect(readConfigText(path)).rejects.toThrow(
    "is not a file; expected a configuration file",
  );
});
