import { describe, expect, it } from "vitest";
import { Embeddings } from "../../../../src/core/catalog/search/embeddings.ts";
import type { Embed } from "../../../../src/core/types/search.ts";
import type { Tool } from "../../../../src/core/types/tool.ts";
import { tool } from "../../../cli/tool.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const many = (count: number): Tool[] =>
  Array.from({ length: count }, (_, at) => tool("s", `t${at}`));

/** Remembers what it was asked. */
function provider(answer: (texts: readonly string[]) => unknown = (texts) => texts.map(() => [1])) {
  const asked: (readonly string[])[] = [];
  const embed: Embed = async (texts) => {
    asked.push(texts);
    return answer(texts) as number[][];
  };
  return { asked, embed };
}

function opened(embed: Embed) {
  const clock = new ManualClock();
  const logger = recordingLogger();
  return { clock, logger, embeddings: new Embeddings({ embed, clock, logger }) };
}

describe("the vectors of tools", () => {
  it("are asked for in batches, once for each definition", async () => {
    const { asked, embed } = provider();
    const { embeddings } = opened(embed);
    const tools = many(150);
    await embeddings.rank(["a"], tools);
    expect(asked.map(({ length }) => length)).toEqual([64, 64, 22, 1]);
    await embeddings.rank(["b", "c"], tools);
    expect(asked.slice(4)).toEqual([["b", "c"]]);
    // Another object of the same definition, and a definition that has changed.
    const changed = [...many(149), tool("s", "t149", { description: "[s] Does something else." })];
    await embeddings.rank(["d"], changed);
    expect(asked.slice(5).map(({ length }) => length)).toEqual([1, 1]);
  });

  it("are shared by the boards that use one provider", async () => {
    const { asked, embed } = provider();
    await opened(embed).embeddings.rank(["a"], many(3));
    await opened(embed).embeddings.rank(["b"], many(3));
    expect(asked.map(({ length }) => length)).toEqual([3, 1, 1]);
  });

  it("are asked for once by searches that run at the same time", async () => {
    const { asked, embed } = provider();
    const { embeddings } = opened(embed);
    await Promise.all(["a", "b"].map((question) => embeddings.rank([question], many(3))));
    expect(asked.map(({ length }) => length)).toEqual([3, 1, 1]);
  });

  it("are of texts that are cut", async () => {
    const { asked, embed } = provider();
    const long = tool("s", "long", { ownDescription: "x".repeat(100_000) });
    await opened(embed).embeddings.rank(["q".repeat(10_000)], [long]);
    expect(asked.flat().every(({ length }) => length <= 2000)).toBe(true);
  });
});

it("ranks by the angle between vectors, whatever their length", async () => {
  const vectors: Record<string, number[]> = { near: [10, 1], far: [1, 10], away: [-1, -1] };
  const { embed } = provider((texts) =>
    texts.map((text) => vectors[/near|far|away/.exec(text)?.[0] ?? ""] ?? [0.001, 0]),
  );
  const tools = ["far", "near", "away"].map((name) => tool("s", name));
  const [ranked] = (await opened(embed).embeddings.rank(["?"], tools)) ?? [];
  expect(ranked).toEqual([tools[1], tools[0]]);
});

describe("a provider that fails", () => {
  it.each([
    ["throws", () => Promise.reject(new Error("no quota")), "no quota"],
    ["returns no list", () => undefined, "one vector for each of the 3 texts"],
    ["returns too few", () => [], "one vector for each of the 3 texts"],
    ["returns no vectors", () => ["a", "b", "c"], "vectors of one length"],
    ["returns vectors of two lengths", () => [[1], [1, 2], [1]], "vectors of one length"],
    ["returns what is no number", () => [[1], [Number.NaN], [1]], "finite numbers"],
  ])(
    "because it %s is reported once, and asked again after a minute",
    async (_, answer, reason) => {
      const { asked, embed } = provider(answer);
      const { embeddings, clock, logger } = opened(embed);
      expect(await embeddings.rank(["a"], many(3))).toBeUndefined();
      expect(await embeddings.rank(["b"], many(3))).toBeUndefined();
      expect(asked).toHaveLength(1);
      await clock.advance(60_000);
      expect(await embeddings.rank(["c"], many(3))).toBeUndefined();
      expect(asked).toHaveLength(2);
      expect(logger.lines).toEqual([
        {
          level: "warn",
          message: "search goes by words alone, since 'embed' failed",
          fields: { reason: expect.stringContaining(reason) as string },
        },
      ]);
    },
  );

  it("because it never answers delays nobody", async () => {
    const { embed } = provider(() => new Promise(() => {}));
    const { embeddings, clock, logger } = opened(embed);
    const ranking = embeddings.rank(["a"], many(3));
    await clock.advance(5000);
    expect(await ranking).toBeUndefined();
    await clock.advance(5000);
    expect(logger.lines).toHaveLength(1);
  });

  it("because it is slow is used once it has answered", async () => {
    let answer: () => void = () => {};
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { embed } = provider((texts) => slow.then(() => texts.map(() => [1])));
    const { embeddings, clock, logger } = opened(embed);
    const early = embeddings.rank(["a"], many(3));
    await clock.advance(5000);
    expect(await early).toBeUndefined();
    answer();
    await clock.advance(0);
    expect(await embeddings.rank(["a"], many(3))).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });
});
