import { expect, it } from "vitest";
import { pageUrl } from "../../../src/server/requests/page-url.ts";

it.each([
  ["https://example.com", "https://example.com/"],
  ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
  ["http://localhost:8080/x", "http://localhost:8080/x"],
  ["http://127.0.0.1/x", "http://127.0.0.1/x"],
  ["http://[::1]/x", "http://[::1]/x"],
  // What a name looks like is not what it is.
  ["https://аpple.com/", "https://xn--pple-43d.com/"],
  ["https://example.com/\u202egnp.exe", "https://example.com/%E2%80%AEgnp.exe"],
])("%s is shown as %s", (given, url) => {
  expect(pageUrl(given)).toEqual({ url });
});

it.each([
  ["javascript:alert(1)", "it is neither https nor on this machine"],
  ["JaVaScRiPt:alert(1)//https://example.com", "it is neither https nor on this machine"],
  ["data:text/html,x", "it is neither https nor on this machine"],
  ["file:///etc/passwd", "it is neither https nor on this machine"],
  ["http://example.com", "it is neither https nor on this machine"],
  ["http://127.0.0.1.example.com", "it is neither https nor on this machine"],
  ["vscode://x", "it is neither https nor on this machine"],
  ["https://bank.example@evil.example/", "it has a user name in it"],
  ["https://:secret@evil.example/", "it has a user name in it"],
  ["example.com", "it is no address"],
  ["", "it is no address"],
  [undefined, "it is no address"],
  [`https://example.com/${"x".repeat(9000)}`, "it is no address"],
])("%s is refused", (given, refusal) => {
  expect(pageUrl(given)).toEqual({ refusal });
});
