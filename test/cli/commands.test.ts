import { describe, expect, it } from "vitest";
import type { Traits } from "../../src/cli/command.ts";
import { readCommandLine } from "../../src/cli/command-line.ts";
import { findCommand, loadCommands, PLUGBOARD } from "../../src/cli/commands.ts";

const commands = await loadCommands();

describe("the table of commands", () => {
  it("has each name once", () => {
    const names = commands.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
  });

  it.each(
    commands.flatMap((command) =>
      [command.name, ...command.aliases].map((word) => [word, command] as const),
    ),
  )("finds %s", async (word, command) => {
    expect(await findCommand(word, PLUGBOARD)).toBe(command);
  });

  it("finds a command within another, and no other", async () => {
    const pins = await findCommand("pins", PLUGBOARD);
    if (pins === undefined) throw new Error("there are no pins");
    expect(await findCommand("show", pins)).toMatchObject({ name: "show" });
    expect(await findCommand("tools", pins)).toBeUndefined();
    expect(await findCommand("show", PLUGBOARD)).toBeUndefined();
  });
});

describe("what sets a command apart", () => {
  it.each<[string, Traits]>([
    ["", {}],
    ["tools", {}],
    ["acp", { speaksOnStdio: true, sparesHome: true, logs: ["state"] }],
    ["serve", { speaksOnStdio: true, logs: ["state", "visits"] }],
    ["replay f", { speaksOnStdio: true, logs: ["state"] }],
    ["up", { isEndless: true, logs: ["state", "visits"], stops: "the gateway" }],
    ["doctor", { sparesHome: true }],
    ["completion bash", { sparesHome: true }],
    ["help errors", { sparesHome: true }],
    ["audit", { printsLines: true }],
    ["ask why", { readsStdin: false, printsLines: true }],
    ["ask -", { readsStdin: true, printsLines: true }],
    ["trace s", { readsStdin: false, isEndless: true, printsLines: true }],
    ["trace s t a=@-", { readsStdin: true, isEndless: false, printsLines: true }],
    ["record s f", { readsStdin: false, isEndless: true }],
    ["prompt p -", { readsStdin: true }],
  ])("plugboard %s", async (line, traits) => {
    expect(await traitsOf(line)).toEqual(traits);
  });

  it("a call has been made although its output is lost", async () => {
    expect(await traitsOf("call t -")).toMatchObject({ readsStdin: true });
    expect((await traitsOf("call t")).whenLost).toContain("the call has been made");
  });
});

async function traitsOf(line: string): Promise<Traits> {
  const output = { out: () => {}, err: () => {}, width: undefined };
  const invocation = await readCommandLine(line.split(" ").filter(Boolean), output);
  if (invocation.kind !== "run") throw new Error(`answered: ${line}`);
  return invocation.traits;
}
