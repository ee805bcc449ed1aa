// Every adapter is an entry of the package of its own: what it exports is the public surface.

import { expect, it } from "vitest";

it.each([
  ["ai-sdk", ["preselectAiSdkTools", "toAiSdkTools"]],
  ["anthropic", ["toAnthropicTools"]],
  ["openai", ["toOpenAiTools"]],
])("plugboard/%s exports exactly this", async (entry, names) => {
  const module: object = await import(`../src/adapters/${entry}.ts`);
  expect(Object.keys(module).toSorted()).toEqual(names);
});
