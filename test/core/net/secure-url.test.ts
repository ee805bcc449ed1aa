import { expect, it } from "vitest";
import { secureUrlProblem } from "../../../src/core/net/secure-url.ts";

it.each([
  ["https://registry.example.com", undefined],
  ["https://registry.example.com/mcp", undefined],
  ["http://localhost:8080", undefined],
  ["http://127.0.0.1", undefined],
  ["http://[::1]:80", undefined],
  ["http://registry.example.com", "is not an https URL"],
  ["file:///registry", "is not an https URL"],
  ["registry.example.com", "is not a URL"],
  ["https://me:pw@registry.example.com", "has a user name or password"],
  ["https://registry.example.com?x=1", "has a query"],
])("the address %s", (url, problem) => {
  const found = secureUrlProblem(url);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(problem);
});
