import { describe, expect, it } from "vitest";
import { parseReference, parseTemplate } from "../../../../src/core/config/schema/references.ts";

const text = (value: string) => ({ kind: "text", text: value });
const variable = (name: string, fallback?: string) =>
  fallback === undefined ? { kind: "variable", name } : { kind: "variable", name, fallback };

const secret = (provider: string, path: string, key?: string) => ({
  kind: "secret",
  reference: key === undefined ? { provider, path } : { provider, path, key },
});

describe("a reference to a secret", () => {
  it.each([
    ["secret://gcp/name", { provider: "gcp", path: "name" }],
    ["secret://gcp/name#3", { provider: "gcp", path: "name", key: "3" }],
    ["secret://gcp/projects/p/secrets/s", { provider: "gcp", path: "projects/p/secrets/s" }],
    ["secret://file//run/secrets/x#a#b", { provider: "file", path: "/run/secrets/x", key: "a#b" }],
    ["secret://file/~/x", { provider: "file", path: "~/x" }],
    ["secret://keychain/s/a", { provider: "keyring", path: "s/a" }],
    ["secret://op/My Vault/item/field", { provider: "op", path: "My Vault/item/field" }],
    ["op://My Vault/item/field", { provider: "op", path: "My Vault/item/field" }],
    ["secret://of-my-own/x", { provider: "of-my-own", path: "x" }],
  ])("%s", (written, expected) => {
    expect(parseReference(written)).toEqual({ ...expected, text: written });
  });

  it.each([
    "gcp/name",
    "secret://gcp",
    "secret://gcp/",
    "secret:///x",
    "secret://gcp/#x",
    "secret://gcp/x#",
    "secret://gcp/ x",
    "secret://gcp/x\n",
    "secret://gcp/x#a\u0000",
    "SECRET://gcp/x",
    "op://",
  ])("%j is not a reference", (written) => {
    expect(parseReference(written)).toBeUndefined();
  });
});

describe("a value's template", () => {
  it.each([
    ["", []],
    ["plain", [text("plain")]],
    ["${A}", [variable("A")]],
    ["Bearer ${TOKEN_2}!", [text("Bearer "), variable("TOKEN_2"), text("!")]],
    ["${A}${_b}", [variable("A"), variable("_b")]],
    ["${A:-}", [variable("A", "")]],
    ["${A:-a:-b c}", [variable("A", "a:-b c")]],
    ["${A:-{x}", [variable("A", "{x")]],
    ["$HOME costs $5", [text("$HOME costs $5")]],
    ["$", [text("$")]],
    ["$${A}", [text("${A}")]],
    ["$$${A}", [text("$${A}")]],
    ["$$", [text("$$")]],
    ["}", [text("}")]],
    ["a ${secret://gcp/x#2} b", [text("a "), secret("gcp", "x", "2"), text(" b")]],
    ["${op://v/i/f}", [secret("op", "v/i/f")]],
  ])("%j is understood", (value, parts) => {
    expect(parseTemplate(value)).toMatchObject({ kind: "parts", parts });
    expect(parseTemplate(value)).not.toHaveProperty("isReference");
  });

  it.each(["secret://gcp/x", "op://v/i/f", "secret://gcp/${A}", "secret://"])(
    "%j is a reference as a whole",
    (value) => {
      expect(parseTemplate(value)).toMatchObject({ kind: "parts", isReference: true });
    },
  );

  it.each([
    ["${A", 0, 'has "${" without a closing "}"'],
    ["ab${", 2, 'has "${" without a closing "}"'],
    ["${}", 0, "has a malformed ${…}"],
    ["${1A}", 0, "has a malformed ${…}"],
    ["${A B}", 0, "has a malformed ${…}"],
    ["${A-b}", 0, "has a malformed ${…}"],
    ["${env:A}", 0, "has a malformed ${…}"],
    ["x${A:-${B}}", 1, 'has "${" inside another "${"'],
    ["x${secret://gcp}", 1, "has a malformed secret reference"],
    ["${secret://gcp/${A}}", 0, 'has "${" inside another "${"'],
    ["secret://gcp/${secret://env/A}", 13, "has a malformed ${…}"],
  ])("%j is malformed", (value, offset, reason) => {
    expect(parseTemplate(value)).toEqual({ kind: "malformed", offset, reason });
  });
});
