import { describe, expect, it } from "vitest";
import { type ErrorCode, PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ServerState } from "../../../../src/core/types/server-state.ts";
import { unavailable } from "../../../../src/core/upstream/supervisor/unavailable.ts";
import { definition } from "../../../support/definition.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const docs = definition({ name: "docs" });

const clock = new ManualClock();
const error = new PlugboardError("SPAWN_FAILED", "docs-server was not found", {
  hint: "install it",
});

describe("a server that is unavailable", () => {
  const backoff = { kind: "backoff", attempt: 3, of: 5, error } as const;
  const refused = new PlugboardError("SERVER_ERROR", "it said no");
  const cases: [state: ServerState, words: string, code?: ErrorCode][] = [
    [{ kind: "disabled" }, "is disabled"],
    [
      { kind: "untrusted", remedy: "run plugboard trust" },
      "is not started: run plugboard trust",
      "UNTRUSTED",
    ],
    [{ kind: "needs-auth", remedy: "sign in" }, "is not started: sign in", "NEEDS_AUTH"],
    [
      { kind: "starting", attempt: 1, since: 0 },
      "did not become ready within 30 s; it is still starting, try again shortly",
    ],
    [
      { ...backoff, retryAt: clock.now() + 4000 },
      "is restarting, attempt 3 of 5, next try in 4 s (docs-server was not found)",
    ],
    [
      { ...backoff, retryAt: clock.now() - 1 },
      "is restarting, attempt 3 of 5, next try in 0 ms (docs-server was not found)",
    ],
    [
      { kind: "backoff", attempt: 12, error, retryAt: clock.now() + 60_000 },
      "is restarting, attempt 12, next try in 60 s (docs-server was not found)",
    ],
    [{ kind: "failed", error }, "has failed: docs-server was not found", "SPAWN_FAILED"],
    [{ kind: "failed", error: refused }, "has failed: it said no", "SERVER_UNAVAILABLE"],
    [
      { kind: "failed", error, remedy: "restart it" },
      "has failed: docs-server was not found; it is not restarted automatically",
      "SPAWN_FAILED",
    ],
    [
      { kind: "failed", error: new PlugboardError("NETWORK", "server 'docs': no route") },
      "has failed: no route",
      "NETWORK",
    ],
    [{ kind: "stopping" }, "is stopped"],
    [{ kind: "stopped" }, "is stopped"],
    [{ kind: "idle" }, "went away before the call could be sent; try again"],
    [
      { kind: "ready", since: 0, protocolVersion: "2025-11-25", startMs: 1 },
      "went away before the call could be sent; try again",
    ],
  ];
  const table = cases.map(
    ([state, words, code = "SERVER_UNAVAILABLE"]) => [state.kind, words, code, state] as const,
  );

  it.each(table)("and %s: %s, which is %s", (_, words, code, state) => {
    expect(unavailable(docs, state, clock)).toMatchObject({
      code,
      server: "docs",
      hasNotRun: true,
      message: `server 'docs' ${words}`,
    });
  });

  it("names the error behind it and its remedy", () => {
    const reason = unavailable(docs, { kind: "failed", error }, clock);
    expect(reason.cause).toBe(error);
    expect(reason.hint).toBe("install it");
    const givenUp = unavailable(docs, { kind: "failed", error, remedy: "restart it" }, clock);
    expect(givenUp.hint).toBe("install it; restart it");
    const stopped = unavailable(docs, { kind: "stopped", remedy: "start it" }, clock);
    expect(stopped.hint).toBe("start it");
  });

  it("has neither if there is no error behind it", () => {
    const plain = new PlugboardError("TIMEOUT", "no answer");
    expect(unavailable(docs, { kind: "failed", error: plain }, clock).hint).toBeUndefined();
    expect(unavailable(docs, { kind: "stopped" }, clock).cause).toBeUndefined();
  });

  it.each<[string, ServerState, string | undefined]>([
    ["the host's own", { kind: "disabled" }, ""],
    ["the host's own, with the host's cause", { kind: "failed", error }, ""],
    [
      "the server's, as far as the cause quotes it",
      {
        kind: "failed",
        error: new PlugboardError("CONNECTION_CLOSED", "it wrote: x y", { quote: "x y" }),
      },
      "x y",
    ],
    [
      "perhaps the server's",
      { kind: "failed", error: new PlugboardError("HANDSHAKE_FAILED", "it said no") },
      undefined,
    ],
    [
      "perhaps the server's, where it refused",
      { kind: "needs-auth", remedy: "sign in" },
      undefined,
    ],
  ])("says whose words they are: %s", (_, state, quote) => {
    expect(unavailable(docs, state, clock).quote).toBe(quote);
  });
});
