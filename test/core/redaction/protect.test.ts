import { expect, it } from "vitest";
import type { ServerTarget } from "../../../src/core/types/server-definition.ts";
import { protect } from "../../../src/core/redaction/protect.ts";
import { Redactor } from "../../../src/core/redaction/redactor.ts";

const database = (password: string): ServerTarget => ({
  kind: "stdio",
  command: "database-server",
  args: [`postgres://shopuser:${password}@warehouse/shop`],
  env: {},
});

const ROW = "warehouse has 12 rows of shopuser and k3y";

it.each([
  ["long and unlike any name", "k3y-k3y-k3y", true],
  ["short", "k3y", false],
  ["the user", "shopuser", false],
  ["the host", "warehouse", false],
  ["the command", "database-server", false],
])("a password that is %s: searched for is %s %s", (_, password, isProtected) => {
  const redactor = new Redactor();
  const target = database(password);
  const left = protect(redactor, target, target, {});
  expect(left.map(({ value, place }) => [value, place])).toEqual(
    isProtected ? [] : [[password, "args"]],
  );
  expect(redactor.text(`<${password}>`)).toBe(isProtected ? "<[REDACTED]>" : `<${password}>`);
  expect(redactor.text(ROW)).toBe(ROW);
  // Where it was configured, it stays hidden.
  const echoed = redactor.text(`cannot connect to postgres://shopuser:${password}@warehouse/shop`);
  expect(echoed).not.toContain(`:${password}@`);
  expect(echoed).toContain("[REDACTED]");
});

it("a name of one server leaves the same word protected as another server's credential", () => {
  const redactor = new Redactor();
  const other: ServerTarget = {
    kind: "stdio",
    command: "x",
    args: ["--token", "warehouse"],
    env: {},
  };
  protect(redactor, other, other, {});
  protect(redactor, database("k3y-k3y-k3y"), database("k3y-k3y-k3y"), {});
  expect(redactor.text("<warehouse>")).toBe("<[REDACTED]>");
});

it.each(["shopuser", "password", "database-server"])(
  "the value of a reference is protected whatever it equals: %s",
  (value) => {
    const redactor = new Redactor();
    redactor.addNames(["shopuser"]);
    redactor.addCertain(value);
    expect(protect(redactor, database("secret://env/X"), database(value), {})).toEqual([]);
    expect(redactor.text(`<${value}>`)).toBe("<[REDACTED]>");
    expect(new Redactor(redactor).text(`<${value}>`)).toBe("<[REDACTED]>");
  },
);

it("the value of a reference that is too short is not searched for", () => {
  const redactor = new Redactor();
  redactor.addCertain("k3y");
  expect(redactor.text("<k3y>")).toBe("<k3y>");
});
