import { describe, expect, it } from "vitest";
import { hideInJsonText, hideInMessage } from "../../../src/core/redaction/hide-in-message.ts";

const KEY = "ghp_0123456789abcdefABCDEF0123456789abcd";

describe("what looks like a credential is hidden in a message", () => {
  it.each<[string, unknown, unknown]>([
    ["by the name of its field", { password: "hunter2" }, { password: "[REDACTED]" }],
    ["at any depth", { a: [{ apiKey: "x7Y8z9" }] }, { a: [{ apiKey: "[REDACTED]" }] }],
    ["in a list under that name", { tokens: ["aB3dE5"] }, { tokens: ["[REDACTED]"] }],
    ["by its form", { text: KEY }, { text: "[REDACTED]" }],
    [
      "in an address",
      { url: "https://ada:pa55word@host/x?api_key=Zx81Yw72&page=2" },
      { url: "https://ada:[REDACTED]@host/x?api_key=[REDACTED]&page=2" },
    ],
    [
      "in an address within a text",
      { text: "see https://ada:pa55word@host/x for more" },
      { text: "see https://ada:[REDACTED]@host/x for more" },
    ],
  ])("%s", (_, message, told) => {
    expect(hideInMessage(message)).toEqual(told);
  });
});

describe("what the protocol or a reader needs stays", () => {
  it.each<[string, unknown]>([
    ["the token of a request's progress", { _meta: { progressToken: "abc-1XY" } }],
    ["where a list goes on", { nextPageToken: "Q2F0Y2gy", nextCursor: "aB3dE5" }],
    ["a schema with a password in it", { properties: { password: { type: "string" } } }],
    ["numbers and switches", { token: true, tokens: 12, secret: "none" }],
    [
      "ordinary text and addresses",
      { text: "the password is in the vault: https://host/x?page=2" },
    ],
    ["a key named __proto__", JSON.parse('{"__proto__":{"a":"b"}}')],
  ])("%s", (_, message) => {
    expect(hideInMessage(message)).toEqual(message);
    expect(JSON.stringify(hideInMessage(message))).toBe(JSON.stringify(message));
  });
});

describe("the same in JSON text of which the end is missing", () => {
  it.each<[string, string]>([
    ['{"a":"b","password":"hunt', '{"a":"b","password":"[REDACTED]'],
    ['{"apiKey" : "x7\\"Y8z9","b":1', '{"apiKey" : "[REDACTED]","b":1'],
    [`{"text":"${KEY}","b":"c`, '{"text":"[REDACTED]","b":"c'],
    ['{"url":"https://ada:pa55word@ho', '{"url":"https://ada:[REDACTED]@ho'],
    ['{"method":"tools/call","params":{"na', '{"method":"tools/call","params":{"na'],
  ])("%s", (text, told) => {
    expect(hideInJsonText(text)).toBe(told);
  });
});
