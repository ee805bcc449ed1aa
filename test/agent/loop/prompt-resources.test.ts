// The room that resources get in a prompt, and what the user is told of them.

import { describe, expect, it } from "vitest";
import { PromptResources } from "../../../src/agent/loop/prompt-resources.ts";
import type { ResourceBlock, ResourceBlockOptions } from "../../../src/core/types/resource.ts";

const shown = (server: string, uri: string, bytes = 1024, isCut = false) => {
  return { server, uri, bytes, isCut };
};

function withBlock(block: Partial<ResourceBlock>) {
  const asked: ResourceBlockOptions[] = [];
  return {
    asked,
    block: async (options: ResourceBlockOptions = {}): Promise<ResourceBlock> => {
      asked.push(options);
      return { text: "", names: "", shown: [], others: 0, ...block };
    },
  };
}

describe("the room for resources", () => {
  it.each([
    [4000, 1200],
    [32_000, 9600],
    [200_000, 60_000],
  ])(
    "is a tenth of a window of %i tokens, at three bytes each",
    async (contextWindow, maxBytes) => {
      const resources = withBlock({});
      await new PromptResources().read(resources, { contextWindow });
      expect(resources.asked).toEqual([{ maxBytes }]);
    },
  );
});

describe("what a turn gets", () => {
  it.each([
    [
      "the block and the names",
      { text: "all", names: "names", shown: [shown("a", "a:1")] },
      ["all", "names"],
    ],
    [
      "the names once, where nothing is shown",
      { text: "names", names: "names", others: 1 },
      ["names"],
    ],
    ["nothing", {}, [""]],
  ])("%s", async (_, block, context) => {
    const read = await new PromptResources().read(withBlock(block), { contextWindow: 1000 });
    expect(read.context).toEqual(context);
  });
});

describe("what the user is told", () => {
  it("is what is in every request, once for each server", async () => {
    const told = new PromptResources();
    const a = [shown("docs", "d:1"), shown("docs", "d:2", 2048, true)];
    const read = async (block: Partial<ResourceBlock>) =>
      (await told.read(withBlock(block), { contextWindow: 1000 })).news;
    expect(await read({ others: 3 })).toBeUndefined();
    expect(await read({ shown: a, others: 3 })).toBe(
      "every request to the model has the text of 2 resources of docs (3 KiB, 1 of them cut); " +
        '3 others can be read by name. "resources": "list" leaves the text of a server out, false hides it all',
    );
    expect(await read({ shown: a })).toBeUndefined();
    expect(await read({ shown: [...a, shown("wiki", "w:1")] })).toContain("1 resource of wiki");
  });
});
