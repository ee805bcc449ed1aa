import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  browserCommand,
  openBrowser,
  openFileInBrowser,
} from "../../../src/cli/terminal/browser.ts";

const URL_ = "https://example.com/authorize?a=1&b=$(touch%20x)";

describe("a page is opened", () => {
  it.each<[NodeJS.Platform, Record<string, string>, string[] | undefined]>([
    ["darwin", {}, ["open", URL_]],
    ["win32", {}, ["rundll32", "url.dll,FileProtocolHandler", URL_]],
    ["linux", { DISPLAY: ":0" }, ["xdg-open", URL_]],
    ["linux", { WAYLAND_DISPLAY: "wayland-0" }, ["xdg-open", URL_]],
    ["linux", {}, undefined],
    ["linux", { BROWSER: "/usr/bin/lynx" }, ["/usr/bin/lynx", URL_]],
    ["darwin", { BROWSER: "firefox" }, ["firefox", URL_]],
    ["linux", { BROWSER: "", DISPLAY: "" }, undefined],
  ])("on %s with %j by %j", (platform, env, command) => {
    expect(browserCommand(URL_, env, platform)).toEqual(command);
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "vscode://x", "mailto:a@b.c"])(
    "never for %s",
    async (url) => {
      const env = { BROWSER: "/bin/true" };
      expect(browserCommand(url, env, "linux")).toBeUndefined();
      expect(await openBrowser(url, env)).toBe(false);
    },
  );

  it("reports that the program does not exist", async () => {
    expect(await openBrowser(URL_, { BROWSER: "/nowhere/browser" })).toBe(false);
  });

  it("does not wait for the program", async () => {
    expect(await openBrowser(URL_, { BROWSER: "/bin/true", PATH: "" })).toBe(true);
  });
});

it("a file of our own is opened by its address", async () => {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-browser-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const [program, told] = [join(directory, "browser"), join(directory, "told")];
  await writeFile(
    program,
    `#!/bin/sh\nprintf '%s' "$*" > '${told}.new' && mv '${told}.new' '${told}'\n`,
    { mode: 0o755 },
  );
  expect(await openFileInBrowser(join(directory, "a b.html"), { BROWSER: program })).toBe(true);
  await expect
    .poll(() => readFile(told, "utf8").catch(() => ""))
    .toBe(`file://${directory}/a%20b.html`);
});
