import { describe, expect, it } from "vitest";
import { browserCommand, openBrowser } from "../../../src/cli/terminal/browser.ts";

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
