import { describe, expect, it } from "vitest";
import { commandsApart, offeredCommand } from "../../src/cli/offered-command.ts";
import type { TypedServer } from "../../src/cli/typed-server.ts";

const given = { config: "my servers.json", agent: "x" };

describe("a command offered for copying", () => {
  it("has the options that were given", () => {
    expect(offeredCommand("status", {})).toBe("plugboard status");
    expect(offeredCommand("status", given)).toBe(
      "plugboard --config 'my servers.json' --agent x status",
    );
  });

  it.each<[string, string[]]>([
    ["check the port", ["check the port"]],
    ["the plugboard is full", ["the plugboard is full"]],
    ["hint: run: plugboard login docs", ["hint: run:", "  plugboard --agent x login docs"]],
    [
      "hint: if you trust it:\n  plugboard trust\nonce:\n  plugboard --config a.json call b",
      [
        "hint: if you trust it:",
        "  plugboard --agent x trust",
        "once:",
        "  plugboard --config a.json call b",
      ],
    ],
  ])("%o stands on a line of its own", (text, lines) => {
    expect(commandsApart(text, { agent: "x" })).toEqual(lines);
  });

  it.each<[words: string, typed: Partial<TypedServer>, offered: string]>([
    ["tools", { words: ["npx", "-y", "a b"] }, "tools -- npx -y 'a b'"],
    ["call a/b x=1", { words: ["npx"] }, "call a/b x=1 -- npx"],
    ["call a/b", { words: ["npx"], env: ["A=secret", "B"] }, "call -e A -e B a/b -- npx"],
    ["call a/b x=1", { url: "https://a.example" }, "call https://a.example a/b x=1"],
    [
      "tools --server a",
      { url: "https://a.example", headers: ["Key: secret"] },
      "tools -H 'Key: …' https://a.example",
    ],
    [
      "call search",
      { url: "http://10.0.0.7", allowInsecure: true, allowPrivate: true },
      "call --allow-insecure --allow-private http://10.0.0.7 search",
    ],
    ["pins show a/b", { words: ["npx"] }, "pins show a/b"],
    ["login https://a.example", { url: "https://a.example" }, "login https://a.example"],
    ["tools -- npx -y some", { words: ["x"] }, "tools -- npx -y some"],
  ])("%s has the typed server %j", (words, typed, offered) => {
    const options = { typed: { env: [], headers: [], ...typed } };
    expect(offeredCommand(words, options)).toBe(`plugboard ${offered}`);
  });

  it("speaks of options where a typed server has no configuration", () => {
    const options = { typed: { words: ["npx"], env: [], headers: [] } };
    expect(commandsApart('hint: set A_KEY and B_KEY in its "env"; more', options)).toEqual([
      "hint: give -e A_KEY and -e B_KEY; more",
    ]);
    expect(commandsApart('hint: set "allowInsecure": true for this server', options)).toEqual([
      "hint: give --allow-insecure",
    ]);
  });
});
