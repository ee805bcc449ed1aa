import { describe, expect, it } from "vitest";
import {
  MAX_ARGUMENTS,
  MAX_PROMPTS,
  PROMPT_LIST,
} from "../../../../src/core/upstream/lists/list-prompts.ts";
import { listFrom } from "./listing.ts";

async function list(...prompts: unknown[]) {
  const { items, diagnostics } = await listFrom(
    PROMPT_LIST,
    async () => ({ prompts }),
    (text) => text.replaceAll("hunter2", "[REDACTED]"),
  );
  return { prompts: items, diagnostics };
}

const messages = (list_: { diagnostics: { message: string }[] }): string[] =>
  list_.diagnostics.map(({ message }) => message);

describe("a prompt", () => {
  it("keeps what the server says about it", async () => {
    const prompt = {
      name: "greet",
      title: "Greet",
      description: "Says hello.",
      arguments: [
        { name: "who", title: "Who", description: "Whom to greet.", required: true },
        { name: "tone" },
      ],
      _meta: { x: 1 },
    };
    expect(await list({ ...prompt, icons: [] })).toEqual({ prompts: [prompt], diagnostics: [] });
  });

  it("is listed without its malformed parts", async () => {
    const { prompts } = await list({
      name: "a",
      title: 1,
      description: null,
      arguments: "none",
      _meta: [],
    });
    expect(prompts).toEqual([{ name: "a" }]);
    const odd = { name: "b", arguments: [{ name: "x", required: "yes", title: 1 }] };
    expect((await list(odd)).prompts).toEqual([{ name: "b", arguments: [{ name: "x" }] }]);
  });

  it.each([
    [[], "it is not an object"],
    [{}, "it has no name"],
    [{ name: "" }, "it has no name"],
    [{ name: "a", arguments: [{}] }, "it has an argument without a name"],
    [
      { name: "a", arguments: Array.from({ length: MAX_ARGUMENTS + 1 }, () => ({ name: "x" })) },
      `it has more than ${MAX_ARGUMENTS} arguments`,
    ],
    [
      { name: "a", _meta: JSON.parse(`${'{"a":'.repeat(99)}1${"}".repeat(99)}`) },
      '"_meta" has too many levels',
    ],
  ])("is left out, and the others stay (%#)", async (given, fault) => {
    const listed = await list({ name: "ok" }, given);
    expect(listed.prompts).toEqual([{ name: "ok" }]);
    expect(messages(listed)).toEqual([`prompt left out: ${fault}`]);
  });

  it("is listed without invisible characters and secrets, except in names", async () => {
    const listed = await list({
      name: "a\u{e0041}",
      title: "t\u202e",
      description: "hunter2",
      arguments: [{ name: "x\u200b", title: "t\u202e", description: "d\u202e hunter2" }],
    });
    expect(listed.prompts).toEqual([
      {
        name: "a\u{e0041}",
        title: "t",
        description: "[REDACTED]",
        arguments: [{ name: "x\u200b", title: "t", description: "d [REDACTED]" }],
      },
    ]);
    expect(messages(listed)).toEqual([
      "invisible characters were removed from its title, arguments' title and arguments' description",
      "invisible characters are in its name and arguments, where they had to be left",
    ]);
  });
});

it("the list is cut where it is too long", async () => {
  const listed = await list(...Array.from({ length: 10_000 }, (_, at) => ({ name: `p${at}` })));
  expect(listed.prompts).toHaveLength(MAX_PROMPTS);
  expect(messages(listed)).toEqual([`the prompt list is cut at ${MAX_PROMPTS} prompts`]);
});
