import { describe, expect, it } from "vitest";
import { incomingHeaders, outgoingHeaders } from "../../../src/core/net/headers.ts";

describe("outgoingHeaders", () => {
  it("keeps what is private for the first origin", () => {
    expect(
      outgoingHeaders({ Accept: "a/b", Authorization: "x" }, { "X-Api-Key": "k", accept: "c/d" }),
    ).toEqual({
      own: { "accept-encoding": "identity", accept: "c/d", authorization: "x", "x-api-key": "k" },
      foreign: { "accept-encoding": "identity", accept: "a/b" },
    });
  });

  it("lets the caller ask for another encoding", () => {
    expect(outgoingHeaders({ "Accept-Encoding": "gzip" }).own).toEqual({
      "accept-encoding": "gzip",
    });
  });

  it.each([
    ["a line end in a value", { "x-key": "hunter2\r\nx-evil: 1" }],
    ["a line feed in a value", { "x-key": "hunter2\nx" }],
    ["a NUL in a value", { "x-key": "hunter2\0" }],
    ["a value outside Latin-1", { "x-key": "hunter2 ✓" }],
    ["a line end in a name", { "x\r\ny": "hunter2" }],
    ["an empty name", { "": "hunter2" }],
    ["a space in a name", { "x y": "hunter2" }],
    ["Host", { Host: "hunter2" }],
    ["Content-Length", { "Content-Length": "hunter2" }],
    ["Transfer-Encoding", { "transfer-encoding": "hunter2" }],
    ["Proxy-Authorization", { "Proxy-Authorization": "hunter2" }],
  ])("refuses %s without repeating the value", (_, headers) => {
    for (const attempt of [() => outgoingHeaders(headers), () => outgoingHeaders({}, headers)]) {
      expect(attempt).toThrow(
        expect.objectContaining({ code: "INVALID_ARGUMENTS", permanent: true }),
      );
      expect(attempt).not.toThrow(/hunter2/);
    }
  });
});

describe("incomingHeaders", () => {
  it("lower-cases names, joins repeated ones and has no prototype", () => {
    const headers = incomingHeaders(["A", "1", "b", "2", "a", "3", "__proto__", "4"]);
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(Object.entries(headers)).toEqual([
      ["a", "1, 3"],
      ["b", "2"],
      ["__proto__", "4"],
    ]);
  });
});
