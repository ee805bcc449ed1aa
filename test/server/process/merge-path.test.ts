import { describe, expect, it } from "vitest";
import { mergePath } from "../../../src/server/process/merge-path.ts";

describe("the PATH that was handed down and the shell's, as one", () => {
  it.each([
    [
      "a bare one comes last",
      "/usr/bin:/bin",
      "/home/me/bin:/usr/bin",
      "/home/me/bin:/usr/bin:/bin",
    ],
    ["so does none at all", "", "/home/me/bin:/bin", "/home/me/bin:/bin"],
    [
      "a chosen one stays first",
      "/venv/bin:/usr/bin",
      "/opt/x:/usr/bin",
      "/venv/bin:/usr/bin:/opt/x",
    ],
    ["what is there twice is there once", "/bin:/bin", "/a:/a:/bin", "/a:/bin"],
    ["the working directory is on neither", "/venv/bin::/bin", ":/a:", "/venv/bin:/bin:/a"],
  ])("%s", (_, inherited, shell, expected) => {
    expect(mergePath(inherited, shell)).toBe(expected);
  });
});
