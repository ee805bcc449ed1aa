import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../src/model/errors.ts";
import { isCallable, isSettled, type ServerState } from "../../src/model/server-state.ts";

const error = new PlugboardError("SPAWN_FAILED", "not found");

const STATES: [state: ServerState, settled: boolean, callable: boolean][] = [
  [{ kind: "disabled" }, true, false],
  [{ kind: "untrusted", remedy: "trust it" }, true, false],
  [{ kind: "idle" }, true, true],
  [{ kind: "starting", attempt: 1, since: 0 }, false, true],
  [{ kind: "ready", since: 0, protocolVersion: "2025-11-25", startMs: 1 }, true, true],
  [{ kind: "backoff", attempt: 2, of: 5, retryAt: 0, error }, false, false],
  [{ kind: "needs-auth", remedy: "sign in" }, true, false],
  [{ kind: "failed", error }, true, true],
  [{ kind: "stopping" }, false, false],
  [{ kind: "stopped" }, true, false],
];

describe("server state", () => {
  const table = STATES.map(([state, ...facts]) => [state.kind, ...facts, state] as const);

  it.each(table)("%s: settled %s, callable %s", (_, settled, callable, state) => {
    expect(isSettled(state)).toBe(settled);
    expect(isCallable(state)).toBe(callable);
  });
});
