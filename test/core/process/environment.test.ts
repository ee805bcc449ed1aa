import { describe, expect, it } from "vitest";
import {
  baseEnvironment,
  childEnvironment,
  readVariable,
} from "../../../src/core/process/environment.ts";

describe("the baseline", () => {
  it("is a small part of the host's environment", () => {
    const env = {
      PATH: "/bin",
      HOME: "/home/ada",
      LANG: "de_DE.UTF-8",
      LC_ALL: "C.UTF-8",
      LC_CTYPE: "UTF-8",
      TERM: "xterm",
      USER: "ada",
      LOGNAME: "ada",
      SHELL: "/bin/zsh",
      TMPDIR: "/tmp",
      TZ: "Europe/Berlin",
    };
    const secrets = { OPENAI_API_KEY: "sk-1", NODE_OPTIONS: "--inspect", LD_PRELOAD: "/evil.so" };
    expect(baseEnvironment({ ...env, ...secrets }, "linux")).toEqual(env);
    expect(baseEnvironment({ ...env, ...secrets }, "darwin")).toEqual(env);
  });

  it("is not made up where the host has nothing", () => {
    expect(baseEnvironment({}, "linux")).toEqual({});
    expect(baseEnvironment({ PATH: undefined }, "linux")).toEqual({});
  });

  it("leaves out what a shell would run as a function", () => {
    expect(baseEnvironment({ TERM: "() { :; }; evil", PATH: "/bin" }, "linux")).toEqual({
      PATH: "/bin",
    });
  });

  it("distinguishes upper and lower case, except on Windows", () => {
    expect(baseEnvironment({ path: "/bin", Home: "/" }, "linux")).toEqual({});
    expect(
      baseEnvironment({ Path: "C:\\bin", SYSTEMROOT: "C:\\Windows", Secret: "s" }, "win32"),
    ).toEqual({ Path: "C:\\bin", SYSTEMROOT: "C:\\Windows" });
  });

  it("has on Windows what programs need to start at all", () => {
    const env = {
      SystemRoot: "C:\\Windows",
      ComSpec: "C:\\Windows\\system32\\cmd.exe",
      PATHEXT: ".EXE;.CMD",
      APPDATA: "a",
      LOCALAPPDATA: "l",
      USERPROFILE: "u",
      TEMP: "t",
      TMP: "t",
      ProgramFiles: "p",
      "ProgramFiles(x86)": "p86",
    };
    expect(baseEnvironment({ ...env, HOME: "/h", SHELL: "bash" }, "win32")).toEqual(env);
  });
});

describe("the environment of a server", () => {
  it("is the baseline, what is configured over it, and the cookie first", () => {
    const env = childEnvironment(
      { PATH: "/bin", HOME: "/h" },
      { PATH: "/x", KEY: "k" },
      "c",
      "linux",
    );
    expect(Object.entries(env)).toEqual([
      ["PLUGBOARD_COOKIE", "c"],
      ["PATH", "/x"],
      ["HOME", "/h"],
      ["KEY", "k"],
    ]);
  });

  it("has a cookie that no configuration can replace", () => {
    const forged = { PLUGBOARD_COOKIE: "forged" };
    expect(childEnvironment(forged, forged, "c", "linux")).toEqual({ PLUGBOARD_COOKIE: "c" });
    expect(childEnvironment({}, { Plugboard_Cookie: "forged" }, "c", "win32")).toEqual({
      PLUGBOARD_COOKIE: "c",
    });
  });

  it("has each variable once on Windows, however it is written", () => {
    expect(childEnvironment({ Path: "a", TEMP: "t" }, { PATH: "b" }, "c", "win32")).toEqual({
      PLUGBOARD_COOKIE: "c",
      PATH: "b",
      TEMP: "t",
    });
  });

  it.each([
    ["PATH", "linux", undefined],
    ["Path", "linux", "x"],
    ["PATH", "win32", "x"],
  ] as const)("gives %s on %s as %s", (name, platform, value) => {
    expect(readVariable({ Path: "x" }, name, platform)).toBe(value);
  });
});
