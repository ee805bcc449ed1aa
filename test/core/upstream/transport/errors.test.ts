import { describe, expect, it } from "vitest";
import { type Quote, serverError } from "../../../../src/core/upstream/transport/errors.ts";
import { excerpt } from "../../../../src/util/text.ts";

const quote: Quote = (received, max) =>
  excerpt(received, (text) => text.replace(/pass\s?word!/g, "[R]"), max);

describe("a server's error", () => {
  it.each([
    [{ code: -32602, message: "no such file" }, "no such file (-32602)"],
    [{ code: -32602, message: "MCP error -32602: no such file" }, "no such file (-32602)"],
    [{ message: "no such file" }, "no such file"],
    [{ code: 5 }, "no message (5)"],
  ])("%j", (error, message) => {
    const { code, message: told } = serverError("resources/read", error, quote);
    expect([code, told]).toEqual(["SERVER_ERROR", message]);
  });

  it.each([
    ["where a secret has the end of a line in it", "see pass\nword!, please", "see [R], please"],
    ["where it is cut", `${"x".repeat(1995)}password!`, `${"x".repeat(1995)}[R]`],
  ])("is redacted before its lines are joined and it is cut: %s", (_, message, told) => {
    expect(serverError("tools/call", { message }, quote).message).toBe(told);
  });
});
