// Who may write to stdout.

import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { claimStdout } from "../../../../src/faces/acp/wire/stdout.ts";
import { Sink } from "../../cli/harness.ts";

describe("claimStdout", () => {
  it("lets the protocol through alone", async () => {
    const [stdout, stderr] = [new Sink(), new Sink()];
    const writer = claimStdout(stdout, stderr).getWriter();
    stdout.write("chatter");
    await writer.write(new TextEncoder().encode("protocol"));
    expect([stdout.text, stderr.text]).toEqual(["protocol", "chatter"]);
  });

  it("says when nobody reads any more", async () => {
    const broken = new Writable({ write: (_, __, done) => done(new Error("gone")) });
    broken.on("error", () => {});
    const writer = claimStdout(broken, new Sink()).getWriter();
    writer.closed.catch(() => {});
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow("gone");
  });
});
