import { describe, expect, it } from "vitest";
import { claimStdout } from "../../src/cli/claim-stdout.ts";
import { Sink } from "./harness.ts";

describe("a claimed stdout", () => {
  it("lets only the protocol through", () => {
    const [stdout, stderr] = [new Sink(), new Sink()];
    const write = claimStdout(stdout, stderr);
    stdout.write("chatter");
    write("protocol");
    expect([stdout.text, stderr.text]).toEqual(["protocol", "chatter"]);
  });
});
