import { describe, expect, it } from "vitest";
import { fleetLines, type ShownFleet } from "../../../src/cli/status/fleet.ts";

describe("the gateways that share a state", () => {
  const shown = (fleet: ShownFleet): string[] =>
    fleetLines(fleet, { isTerminal: false, width: undefined, paint: (_tone, text) => text });

  it("have a row each, with why one is not reached, and what is wrong with them together", () => {
    const configuration = "0123456789ab";
    expect(
      shown({
        replicas: [
          {
            name: "http://10.0.0.1:7584",
            url: "http://10.0.0.1:7584",
            configuration,
            state: "ready",
          },
          { name: "http://10.0.0.2:7584", configuration, state: "degraded" },
          { name: "laptop", state: "unknown", reason: "it has no gateway.shared.replica.url" },
        ],
        problems: ["different \u001b[2J configurations"],
      }),
    ).toEqual([
      "gateway               state            configuration",
      "http://10.0.0.1:7584  ready            0123456789ab",
      "http://10.0.0.2:7584  ready, degraded  0123456789ab",
      "laptop                not reached",
      "    it has no gateway.shared.replica.url",
      "different \\u{1b}[2J configurations",
    ]);
  });

  it("are none while none runs", () => {
    expect(shown({ replicas: [], problems: [] })).toEqual([
      "No gateway uses the shared state now.",
    ]);
  });
});
