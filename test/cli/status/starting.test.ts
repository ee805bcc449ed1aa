import { describe, expect, it } from "vitest";
import { startingRows } from "../../../src/cli/status/starting.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerState } from "../../../src/core/types/server-state.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { terminal } from "../harness.ts";
import { status } from "./status.ts";

const error = new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" });
const ready: ServerState = {
  kind: "ready",
  since: 0,
  startMs: 250.4,
  protocolVersion: "2025-11-25",
  pid: 42,
};
const plain = terminal(60, { NO_COLOR: "1" });

describe("servers that start", () => {
  const clock = new ManualClock();
  const starting: ServerState = { kind: "starting", attempt: 1, since: clock.now() - 1500 };
  const servers = [
    status("a", ready),
    status("b", starting),
    status("c", { kind: "failed", error }),
  ];
  const installing = status("d", { ...starting, installer: "npx" });
  const frame = { spinner: "*", width: 60 };

  it("have a row each, with their start time so far", () => {
    expect(startingRows(servers, { ...frame, height: 10 }, clock, plain)).toEqual([
      "a  ✓ ready     250 ms",
      "b  * starting  1.5 s",
      "c  ✗ failed",
    ]);
  });

  it("say what npx does for them", () => {
    expect(startingRows([installing], { ...frame, height: 10 }, clock, plain)).toEqual([
      "d  * npx is installing it  1.5 s",
    ]);
  });

  it("come first if not all rows fit", () => {
    const [first] = startingRows(servers, { ...frame, height: 2 }, clock, plain);
    expect(first).toBe("b  * starting  1.5 s");
  });
});
