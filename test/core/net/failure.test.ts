import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { networkFailure } from "../../../src/core/net/failure.ts";

describe("networkFailure", () => {
  it.each([
    ["ENOTFOUND", "NETWORK", "example.com is a name that cannot be resolved (ENOTFOUND)"],
    ["ECONNREFUSED", "NETWORK", "example.com refused the connection (ECONNREFUSED)"],
    ["UND_ERR_CONNECT_TIMEOUT", "TIMEOUT", /took too long to connect/],
    ["UND_ERR_HEADERS_OVERFLOW", "MESSAGE_TOO_LARGE", /more headers/],
    ["ERR_SSL_UNSUPPORTED_PROTOCOL", "NETWORK", /secure connection/],
    ["ERR_BROTLI_DECODER_ERROR", "PROTOCOL", /cannot be decoded/],
    ["EWHATEVER", "NETWORK", "example.com cannot be reached (EWHATEVER)"],
  ])("%s is %s", (below, code, message) => {
    const cause = Object.assign(new Error("low level"), { code: below });
    const failure = networkFailure(cause, "example.com");
    expect(failure).toMatchObject({ code, permanent: false, cause });
    expect(failure.message).toMatch(message);
  });

  const failed = (code: string, more: object = {}): Error =>
    Object.assign(new Error("low level"), { code, ...more });

  it.each<[string, Error, boolean]>([
    ["a refused connection", failed("ECONNREFUSED"), true],
    ["an unknown name", failed("ENOTFOUND"), true],
    ["a connection that takes too long", failed("UND_ERR_CONNECT_TIMEOUT"), true],
    ["a certificate that is not valid", failed("CERT_HAS_EXPIRED"), true],
    ["a host that cannot be reached", failed("EHOSTUNREACH", { syscall: "connect" }), true],
    [
      "several addresses that cannot be reached",
      Object.assign(
        new AggregateError([failed("ETIMEDOUT", { syscall: "connect" })], "all of them"),
        { code: "ETIMEDOUT" },
      ),
      true,
    ],
    ["a host that is lost later", failed("EHOSTUNREACH", { syscall: "read" }), false],
    ["a connection that is given up later", failed("ETIMEDOUT"), false],
    ["a reset", failed("ECONNRESET", { syscall: "read" }), false],
    ["an end before the answer", failed("UND_ERR_SOCKET"), false],
    ["anything else", failed("EWHATEVER"), false],
  ])("knows whether the request can have been sent: %s", (_, error, hasNotRun) => {
    expect(networkFailure(error, "example.com").hasNotRun).toBe(hasNotRun);
  });

  it.each([["text"], [new Error("no code")], [Object.assign(new Error("x"), { code: 7 })]])(
    "says no more than it knows about %s",
    (thrown) => {
      expect(networkFailure(thrown, "h").message).toBe("h cannot be reached");
    },
  );

  it.each([
    ["ECONNREFUSED", "h cannot be reached: the proxy p refused the connection (ECONNREFUSED)"],
    ["ECONNRESET", "h ended the connection before its answer was complete (ECONNRESET)"],
  ])("tells the proxy from the server: %s", (code, message) => {
    const failure = networkFailure(Object.assign(new Error("x"), { code }), "h", "p");
    expect(failure.message).toBe(message);
  });

  it("asks for a client certificate when the server does", () => {
    const code = "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED";
    const failure = networkFailure(Object.assign(new Error("x"), { code }), "h");
    expect(failure.hint).toContain('"cert"');
  });

  it("leaves one of Plugboard's own alone", () => {
    const own = new PlugboardError("REFUSED_ADDRESS", "no");
    expect(networkFailure(own, "h")).toBe(own);
  });
});
