import { userInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { isSystemPath, loginShell, mergePath, pathIn } from "../../src/cli/login-path.ts";

const fromUsers = () => "/bin/ksh";

describe("the shell that is asked", () => {
  it.each([
    ["is the environment's", { SHELL: "/bin/zsh" }, "/bin/zsh", ["-l", "-i", "-c"]],
    ["else the user's", {}, "/bin/ksh", ["-l", "-i", "-c"]],
    ["or where that is empty", { SHELL: "" }, "/bin/ksh", ["-l", "-i", "-c"]],
    ["knows its flags: fish", { SHELL: "/opt/bin/fish" }, "/opt/bin/fish", ["-l", "-i", "-c"]],
    ["knows its flags: tcsh", { SHELL: "/bin/tcsh" }, "/bin/tcsh", ["-i", "-c"]],
  ])("%s", (_, env, command, flags) => {
    const shell = loginShell(env, "linux", fromUsers);
    expect(shell?.command).toBe(command);
    expect(shell?.args.slice(0, -1)).toEqual(flags);
  });

  it.each([
    ["on Windows", { SHELL: "/bin/bash" }, "win32"],
    ["for an account without one", { SHELL: "/usr/sbin/nologin" }, "linux"],
    ["for an account that ends at once", { SHELL: "/bin/false" }, "darwin"],
    ["by a name that is not a path", { SHELL: "bash" }, "linux"],
  ] as const)("is undefined %s", (_, env, platform) => {
    expect(loginShell(env, platform, fromUsers)).toBeUndefined();
  });

  it("is looked up in the user database", () => {
    const { shell } = userInfo();
    expect(loginShell({}, "linux")?.command).toBe(shell?.endsWith("sh") ? shell : undefined);
  });

  it("is undefined if the user is not known", () => {
    expect(loginShell({}, "linux", () => undefined)).toBeUndefined();
  });
});

describe("its answer", () => {
  it.each([
    ["between noise", "hello\n<plugboard-path>/a:/b</plugboard-path>bye", "/a:/b"],
    [
      "behind a mark without an answer",
      "<plugboard-path><plugboard-path>/a</plugboard-path>",
      "/a",
    ],
    ["cut", "<plugboard-path>/a:/b", undefined],
    ["not there", "hello", undefined],
    ["an end alone", "</plugboard-path>", undefined],
  ])("is found %s", (_, output, path) => {
    expect(pathIn(output)).toBe(path);
  });
});

describe("the inherited PATH and the shell's, merged", () => {
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

it.each([
  ["/usr/bin:/bin", true],
  ["/usr/local/bin:/usr/bin::/bin:/usr/sbin:/sbin", true],
  ["", true],
  [undefined, true],
  ["/home/me/.nvm/versions/node/v24/bin:/usr/bin:/bin", false],
  ["/usr/bin:/bin:./tools", false],
])("a PATH of %j is what a desktop passes on: %j", (path, expected) => {
  expect(isSystemPath(path)).toBe(expected);
});
