import { describe, expect, it } from "vitest";
import { serverError } from "../../../src/server/transport/errors.ts";

describe("a server's error", () => {
  it.each([
    [{ code: -32602, message: "no such file" }, "no such file (-32602)"],
    [{ code: -32602, message: "MCP error -32602: no such file" }, "no such file (-32602)"],
    [{ message: "no such file" }, "no such file"],
    [{ code: 5 }, "no message (5)"],
  ])("%j", (error, message) => {
    expect(serverError("resources/read", error)).toMatchObject({ code: "SERVER_ERROR", message });
  });
});
