import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../src/model/errors.ts";
import { exitReason } from "../../src/server/connect-stdio.ts";

const seen = new PlugboardError("CONNECTION_CLOSED", "the server closed its output");

describe("exitReason", () => {
  it.each([
    [{ code: 1, signal: null }, "the server exited with code 1"],
    [{ code: 0, signal: null }, "the server exited with code 0"],
    [{ code: null, signal: "SIGKILL" as const }, "the server was ended by SIGKILL"],
    [{ code: null, signal: null }, "the server exited with code unknown"],
  ])("of %j is: %s", (status, message) => {
    expect(exitReason(status, [], seen)).toMatchObject({
      code: "CONNECTION_CLOSED",
      message,
      cause: seen,
    });
  });

  it("without an exit status is what the transport saw, or that the connection ended", () => {
    expect(exitReason(undefined, [], seen).message).toBe("the server closed its output");
    expect(exitReason(undefined, []).message).toBe("the connection ended");
    expect(exitReason(undefined, []).cause).toBeUndefined();
  });

  it("ends with the last three lines of stderr", () => {
    const { message } = exitReason({ code: 1, signal: null }, ["one", "two", "three", "four"]);
    expect(message).toBe("the server exited with code 1; it last wrote: two | three | four");
  });

  it("cuts long last lines", () => {
    const { message } = exitReason({ code: 1, signal: null }, ["x".repeat(2000)]);
    expect(message).toBe(`the server exited with code 1; it last wrote: ${"x".repeat(399)}…`);
  });
});
