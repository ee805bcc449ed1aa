import { describe, expect, it } from "vitest";
import { commandsApart, offeredCommand } from "../../../src/faces/cli/offered-command.ts";

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
});
