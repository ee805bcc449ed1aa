import { describe, expect, it } from "vitest";
import {
  baseEnvironment,
  childEnvironment,
  networkVariables,
  programEnvironment,
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

  it("has the way to the network: proxies, certificates and registries, and nothing that signs in somewhere", () => {
    const network = {
      HTTPS_PROXY: "http://ada:s3cret@proxy.example:3128",
      http_proxy: "proxy.example:3128",
      NO_PROXY: "localhost",
      NODE_EXTRA_CA_CERTS: "/etc/corp.pem",
      ssl_cert_file: "/etc/corp.pem",
      REQUESTS_CA_BUNDLE: "/etc/corp.pem",
      npm_config_registry: "https://npm.corp.example/",
      NPM_CONFIG_CAFILE: "/etc/corp.pem",
      PIP_INDEX_URL: "https://pip.corp.example/simple",
    };
    const others = {
      npm_config__auth: "YTpi",
      "npm_config_//npm.corp.example/:_authToken": "npm_1",
      NPM_CONFIG_USERCONFIG: "/evil/.npmrc",
      NPM_TOKEN: "npm_1",
      PIP_EXTRA_INDEX_URL: "https://ada:s3cret@pip.corp.example/simple",
      UV_DEFAULT_INDEX: "https://token@pip.corp.example/simple",
      UV_INDEX_URL: "https://pip.corp.example/simple?token=s3cret",
      Https_Proxy: "http://other.example",
      ALL_PROXY: "",
    };
    expect(baseEnvironment({ ...network, ...others }, "linux")).toEqual(network);
    expect(networkVariables({ ...network, ...others }).toSorted()).toEqual(
      Object.keys(network).toSorted(),
    );
    const env = { ...network, ...others, PATH: "/bin" };
    const off = programEnvironment(env, { networkInherit: false, networkProxy: "http://p" });
    expect(baseEnvironment(off, "linux")).toEqual({ PATH: "/bin" });
    expect(programEnvironment(env, {})).toBe(env);
    expect(programEnvironment(env, { networkProxy: "http://other.example" })).toMatchObject({
      PATH: "/bin",
      HTTPS_PROXY: "http://other.example",
      https_proxy: "http://other.example",
      HTTP_PROXY: "http://other.example",
      http_proxy: "http://other.example",
      NO_PROXY: "localhost",
    });
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
