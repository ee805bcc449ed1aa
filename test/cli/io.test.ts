import { homedir } from "node:os";
import { describe, expect, it } from "vitest";
import { processIo } from "../../src/cli/io.ts";

describe("the io of a command", () => {
  it("comes from its process", () => {
    const io = processIo();
    expect(io).toMatchObject({ cwd: process.cwd(), homedir: homedir() });
    expect([io.stdin, io.stdout, io.stderr, io.env, io.events]).toEqual([
      process.stdin,
      process.stdout,
      process.stderr,
      process.env,
      process,
    ]);
  });
});
