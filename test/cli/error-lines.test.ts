import { describe, expect, it } from "vitest";
import type { GlobalOptions } from "../../src/cli/context.ts";
import { errorJson, errorLines } from "../../src/cli/error-lines.ts";
import { PlugboardError } from "../../src/core/types/errors.ts";

const options: GlobalOptions = {
  agents: [],
  json: false,
  color: false,
  logLevel: "warn",
  isLogLevelGiven: false,
  owner: false,
  exitWithStdin: false,
  standalone: false,
};
const verbose: GlobalOptions = { ...options, logLevel: "info" };
const paint = (_: string, text: string): string => text;

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), {
  code: "ECONNREFUSED",
});
const network = new PlugboardError("NETWORK", "127.0.0.1:9 refused the connection", {
  cause: refused,
  hint: "check the port",
});
const missing = new PlugboardError("SPAWN_FAILED", "npx was not found");
const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
  code: "ENOSPC",
  syscall: "write",
  path: "/state/pins.json",
});

describe("an error is shown as", () => {
  it.each<[string, unknown, GlobalOptions | undefined, string[]]>([
    [
      "what happened and the code",
      new PlugboardError("CANCELLED", "the call was cancelled"),
      options,
      ["plugboard: the call was cancelled", "more: plugboard help CANCELLED"],
    ],
    [
      "what happened, what to do and the code",
      network,
      options,
      [
        "plugboard: 127.0.0.1:9 refused the connection",
        "hint: check the port",
        "more: plugboard help NETWORK",
      ],
    ],
    [
      "the same with what led to it",
      network,
      verbose,
      [
        "plugboard: 127.0.0.1:9 refused the connection",
        "because: connect ECONNREFUSED 127.0.0.1:9",
        "hint: check the port",
        "more: plugboard help NETWORK",
      ],
    ],
    [
      "a command on a line of its own, with the configuration that was given",
      new PlugboardError("NEEDS_AUTH", "'docs' wants a sign-in", {
        hint: "to sign in: plugboard login docs",
      }),
      { ...options, config: "my.json" },
      [
        "plugboard: 'docs' wants a sign-in",
        "hint: to sign in:",
        "  plugboard --config my.json login docs",
        "more: plugboard help NEEDS_AUTH",
      ],
    ],
    [
      "the code of the cause, which says more than that a server is not there",
      new PlugboardError("SERVER_UNAVAILABLE", "no server could be asked", {
        cause: new PlugboardError("SERVER_UNAVAILABLE", "it is restarting", { cause: missing }),
      }),
      options,
      ["plugboard: no server could be asked", "more: plugboard help SPAWN_FAILED"],
    ],
    [
      "what the machine refused",
      full,
      options,
      [
        "plugboard: the disk is full: /state/pins.json cannot be written",
        "hint: free some space, or set PLUGBOARD_HOME to a directory on another disk",
        "more: plugboard help SYSTEM_ERROR",
      ],
    ],
    [
      "text that a terminal does not obey",
      new PlugboardError("PROTOCOL", "it said \u001b[31mred\u202e"),
      undefined,
      ["plugboard: it said red", "more: plugboard help PROTOCOL"],
    ],
    [
      "a bug, for which there is no code",
      new TypeError("x is undefined"),
      options,
      [
        "plugboard: internal error: x is undefined",
        "hint: this is a bug, please report it; --verbose shows where it happened",
      ],
    ],
  ])("%s", (_, error, given, lines) => {
    expect(errorLines(error, { options: given, paint })).toEqual(lines);
  });
});

describe("what led to an error", () => {
  function chain(...messages: string[]): PlugboardError {
    const cause = messages.reduceRight<Error | undefined>(
      (inner, message) => new Error(message, { cause: inner }),
      undefined,
    );
    return new PlugboardError("NETWORK", "it failed: no route", { cause });
  }
  function syntaxError(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      return error;
    }
  }
  const circle = chain("a circle");
  (circle.cause as Error).cause = circle.cause;

  it.each<[string, PlugboardError, string[]]>([
    ["the nearest first", chain("no answer", "a reset"), ["no answer", "a reset"]],
    ["without what has been said", chain("no route", "fetch failed", "fetch"), ["fetch failed"]],
    ["on one line", chain("a\n  b\u001b[2J"), ["a b"]],
    ["cut where it is long", chain("x".repeat(600)), [`${"x".repeat(499)}…`]],
    [
      "to an end, however many there are",
      chain(..."abcdefghijkl".split("").map((each) => each.repeat(3))),
      "abcdefgh".split("").map((each) => each.repeat(3)),
    ],
    ["once, even if a cause is its own", circle, ["a circle"]],
    [
      "with every failure of several",
      new PlugboardError("NETWORK", "it failed", {
        cause: new AggregateError([new Error("one"), new Error("two")]),
      }),
      ["one; two"],
    ],
    [
      "without the text that could not be read",
      new PlugboardError("SECRET_UNAVAILABLE", "no credentials", {
        cause: syntaxError('{"private_key": sk-s3cr3t}'),
      }),
      ["a text has the wrong form"],
    ],
    [
      "without the credentials in an address",
      chain("GET https://me:hush@host.example/a?key=hush#b failed", "to redis://:hush@host"),
      ["GET https://[REDACTED]@host.example/a?[REDACTED]#b failed", "to redis://[REDACTED]@host"],
    ],
    [
      "without either in one of several",
      new PlugboardError("NETWORK", "it failed", {
        cause: new AggregateError([syntaxError("{ sk-s3cr3t"), new Error("http://a:b@c")]),
      }),
      ["a text has the wrong form; http://[REDACTED]@c"],
    ],
    [
      "but not what a server has sent",
      new PlugboardError("SERVER_ERROR", "no", { cause: { error: { data: "secret" } } }),
      [],
    ],
  ])("is told %s", (_, error, causes) => {
    const shown = errorLines(error, { options: verbose, paint });
    expect(shown.filter((line) => line.startsWith("because: "))).toEqual(
      causes.map((each) => `because: ${each}`),
    );
    expect(errorJson(error, verbose)).toEqual({
      code: error.code,
      message: error.message,
      ...(causes.length > 0 && { causes }),
    });
    expect(errorJson(error, options)).not.toHaveProperty("causes");
  });
});

it("a program gets the same as JSON", () => {
  const problems = [{ path: "x", message: "unknown key" }];
  const error = new PlugboardError("CONFIG_INVALID", "it is wrong", { problems, server: "docs" });
  expect(errorJson(error, options)).toEqual({
    code: "CONFIG_INVALID",
    message: "it is wrong",
    server: "docs",
    problems,
  });
  expect(errorJson(new TypeError("x"), options)).toEqual({ code: "INTERNAL", message: "x" });
});
