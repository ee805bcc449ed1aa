import { describe, expect, it } from "vitest";
import {
  processWarning,
  selectServers,
  selectTools,
  sessionLimits,
} from "../../../src/core/guard/session-limits.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { AgentGuard } from "../../../src/core/types/guard-settings.ts";

describe("the limits of a session are set", () => {
  it.each<[string, AgentGuard | undefined, Record<string, string>, number, number]>([
    ["by default", undefined, {}, 10, 100],
    ["by configuration", { limits: { sessionServers: 3, sessionTools: 0 } }, {}, 3, 0],
    ["by configuration in part", { limits: { sessionTools: 7 } }, {}, 10, 7],
    [
      "by environment",
      undefined,
      { PLUGBOARD_MAX_SESSION_SERVERS: "2", PLUGBOARD_MAX_SESSION_TOOLS: "10000" },
      2,
      10_000,
    ],
    [
      "by environment over configuration",
      { limits: { sessionServers: 3 } },
      { PLUGBOARD_MAX_SESSION_SERVERS: "0" },
      0,
      100,
    ],
    ["by an empty variable", {}, { PLUGBOARD_MAX_SESSION_SERVERS: "" }, 10, 100],
  ])("%s", (_, guard, env, servers, tools) => {
    expect(sessionLimits(guard, env)).toEqual({ servers, tools });
  });

  it.each([
    ["PLUGBOARD_MAX_SESSION_SERVERS", "ten", 1000],
    ["PLUGBOARD_MAX_SESSION_SERVERS", "1001", 1000],
    ["PLUGBOARD_MAX_SESSION_SERVERS", "-1", 1000],
    ["PLUGBOARD_MAX_SESSION_TOOLS", "1e3", 10_000],
    ["PLUGBOARD_MAX_SESSION_TOOLS", " 5", 10_000],
    ["PLUGBOARD_MAX_SESSION_TOOLS", "99999999999999999999", 10_000],
  ])("refuse %s=%j", (variable, value, max) => {
    const message = `${variable} is "${value.trim()}"; expected a whole number from 0 to ${max}`;
    let error: unknown;
    try {
      sessionLimits({}, { [variable]: value });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PlugboardError);
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      message,
      problems: [{ path: variable }],
    });
  });
});

describe("what is past the limit", () => {
  const limits = { servers: 2, tools: 3 };

  it("is nothing where everything fits", () => {
    expect(selectServers(["a", "b"], limits)).toEqual({ kept: ["a", "b"], leftOut: [] });
  });

  it("is left out by name, the last ones first", () => {
    expect(selectServers(["a", "b", "c"], limits)).toEqual({
      kept: ["a", "b"],
      leftOut: ["c"],
      notice:
        "1 server of the session is left out, the limit is 2: c; raise it with limits.sessionServers or PLUGBOARD_MAX_SESSION_SERVERS",
    });
    const tools = ["a", "b", "c", "d", "e\u0007"].map((tool) => ({
      name: `mcp__docs__${tool}`,
      source: { kind: "mcp" as const, server: "docs", tool },
    }));
    expect(selectTools(tools, limits, true).notice).toBe(
      "2 tools of the session are found by search alone, the limit is 3: docs/d, docs/e; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
    );
    expect(selectTools(tools, limits, false)).toEqual({
      kept: tools.slice(0, 3),
      leftOut: tools.slice(3),
      notice:
        "2 tools of the session are left out, the limit is 3: docs/d, docs/e; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
    });
  });

  it("is everything where nothing is allowed", () => {
    expect(selectServers(["a"], { servers: 0, tools: 0 })).toMatchObject({
      kept: [],
      leftOut: ["a"],
    });
  });

  it("is counted where there is too much to name", () => {
    const names = Array.from({ length: 60 }, (_, n) => `s${n}`);
    const { leftOut, notice } = selectServers(names, limits);
    expect(leftOut).toHaveLength(58);
    expect(notice).toMatch(
      /^58 servers of the session are left out, the limit is 2: s2, .*s51 and 8 more;/,
    );
  });
});

describe("many programs in a session", () => {
  it.each([
    [5, undefined],
    [6, "the session starts 6 programs of its own; more than 5 make it slow to start"],
  ])("%i", (count, warning) => {
    expect(processWarning(count)).toBe(warning);
  });
});
