import { expect, it } from "vitest";
import { Completions } from "../../../src/server/requests/completions.ts";

it("the same page is completed for all who asked", async () => {
  const completions = new Completions();
  const both = Promise.all([completions.of("a"), completions.of("a")]);
  completions.heard("a");
  await expect(both).resolves.toHaveLength(2);
});

it("pages that are never completed are forgotten, the oldest first", async () => {
  const completions = new Completions();
  const state = { first: "open" };
  void completions.of("0").then(() => (state.first = "completed"));
  for (let id = 1; id <= 100; id += 1) void completions.of(String(id));
  const last = completions.of("100");
  completions.heard("0");
  completions.heard("100");
  await last;
  expect(state.first).toBe("open");
});
