import { describe, expect, it } from "vitest";
import { stateCell, stateNotes, unavailableNotes } from "../../../src/cli/status/server-state.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import { terminal } from "../harness.ts";
import { backoff, error, ready } from "./status.ts";

describe("servers that could not be asked", () => {
  it("are named once each, with the reason and what helps", () => {
    const named = new PlugboardError("NETWORK", "github: no route", { hint: "connect" });
    const earlier = new PlugboardError("TIMEOUT", "no answer; tried 2 min ago", { hint: "wait" });
    const servers = [
      { name: "files", state: ready },
      { name: "github", state: { kind: "failed", error: named } as const },
      { name: "docs", state: { kind: "failed", error: earlier, earlier: true } as const },
    ];
    expect(unavailableNotes(servers.slice(0, 2), {})).toEqual([
      "plugboard: github is not available: no route",
      "hint: connect",
      "more: plugboard help NETWORK",
    ]);
    expect(unavailableNotes(servers, { config: "my servers.json" }).slice(3)).toEqual([
      "plugboard: docs is not available: no answer; tried 2 min ago",
      "to try again now:",
      "  plugboard --config 'my servers.json' status",
    ]);
  });

  it("are named without their reasons, if they are many", () => {
    const state: ServerState = { kind: "failed", error };
    const servers = Array.from({ length: 12 }, (_, at) => ({ name: `s${at}`, state }));
    expect(unavailableNotes([{ name: "files", state: ready }, ...servers], {})).toEqual([
      "plugboard: 12 servers are not available: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, 2 more",
      "to see why:",
      "  plugboard doctor",
    ]);
  });
});

describe("a state", () => {
  it.each<[ServerState, string, string, string[]]>([
    [{ kind: "disabled" }, "○ disabled", "- disabled", []],
    [{ kind: "untrusted", remedy: "trust it" }, "! untrusted", "! untrusted", ["trust it"]],
    [{ kind: "idle" }, "○ idle", "- idle", []],
    [
      { kind: "starting", attempt: 1, since: 0 },
      "◌ starting",
      "~ starting",
      ["still starting; it did not become ready in time"],
    ],
    [ready, "✓ ready", "+ ready", []],
    [backoff, "↻ restarting", "~ restarting", ["not found", "hint: install it"]],
    [
      { kind: "needs-auth", remedy: "check the value" },
      "! access refused",
      "! access refused",
      ["check the value"],
    ],
    [
      { kind: "needs-auth", remedy: "it wants a sign-in; run: plugboard login docs" },
      "! sign-in required",
      "! sign-in required",
      ["it wants a sign-in; run:", "  plugboard --agent x login docs"],
    ],
    [{ kind: "failed", error }, "✗ failed", "x failed", ["not found", "hint: install it"]],
    [{ kind: "stopping" }, "○ stopping", "- stopping", []],
    [{ kind: "stopped" }, "○ stopped", "- stopped", []],
  ])("%o is shown as a word with a sign, and its reason", (state, sign, plainSign, notes) => {
    expect(stateCell(state, terminal(80)).text).toBe(sign);
    expect(stateCell(state, terminal(80, { TERM: "linux" })).text).toBe(plainSign);
    expect(stateNotes(state, { agent: "x" })).toEqual(notes);
  });
});
