import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { isCallable, type ServerState, stateToJson } from "../../../src/core/types/server-state.ts";

const error = new PlugboardError("SPAWN_FAILED", "not found");

const STATES: [state: ServerState, callable: boolean][] = [
  [{ kind: "disabled" }, false],
  [{ kind: "untrusted", remedy: "trust it" }, false],
  [{ kind: "idle" }, true],
  [{ kind: "starting", attempt: 1, since: 0 }, true],
  [{ kind: "ready", since: 0, protocolVersion: "2025-11-25", startMs: 1 }, true],
  [{ kind: "backoff", attempt: 2, of: 5, retryAt: 0, error }, false],
  [{ kind: "needs-auth", remedy: "sign in" }, false],
  [{ kind: "failed", error }, true],
  [{ kind: "stopping" }, false],
  [{ kind: "stopped" }, false],
];

describe("server state", () => {
  const table = STATES.map(([state, ...facts]) => [state.kind, ...facts, state] as const);

  it.each(table)("%s: callable %s", (_, callable, state) => {
    expect(isCallable(state)).toBe(callable);
  });

  it("is JSON that includes its error", () => {
    const shown = { code: "SPAWN_FAILED", message: "not found", hint: "install it" };
    const known = new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" });
    const backoff: ServerState = { kind: "backoff", attempt: 2, of: 5, retryAt: 3, error: known };
    const ready: ServerState = { kind: "ready", since: 0, startMs: 250.4, protocolVersion: "1" };
    expect(stateToJson({ kind: "failed", error: known })).toEqual({ kind: "failed", error: shown });
    expect(stateToJson(backoff)).toEqual({ ...backoff, error: shown });
    expect(stateToJson(ready)).toEqual({ ...ready, startMs: 250 });
    expect(stateToJson({ kind: "idle" })).toEqual({ kind: "idle" });
    const bare = new PlugboardError("TIMEOUT", "late");
    expect(stateToJson({ kind: "failed", error: bare })).toEqual({
      kind: "failed",
      error: { code: "TIMEOUT", message: "late" },
    });
  });
});
