import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { messagesOf, writeConfig } from "./files.ts";

describe("models of a file", () => {
  it("are for the agent that names them, with the providers of all", async () => {
    const file = await writeConfig(`{
      agents: {
        defaults: { model: "lab/a", systemPrompt: "", maxSteps: 7 },
        list: [{ id: "b", model: "lab/b/c" }],
      },
      models: { providers: { lab: {
        type: "openai-compatible", baseUrl: "http://\${HOST}/v1", apiKey: "\${KEY}", contextWindow: 8192,
      } } },
    }`);
    const { model, systemPrompt, maxSteps, modelProviders, warnings } = await loadConfig(file);
    expect({ model, systemPrompt, maxSteps, warnings }).toEqual({
      model: "lab/a",
      systemPrompt: "",
      maxSteps: 7,
      warnings: [],
    });
    expect(modelProviders).toEqual({
      lab: {
        type: "openai-compatible",
        baseUrl: "http://${HOST}/v1",
        apiKey: "${KEY}",
        contextWindow: 8192,
      },
    });
    expect(await loadConfig(file, "b")).toMatchObject({ model: "lab/b/c", maxSteps: 7 });
  });

  it.each([
    ["{ model: 'a/x' }", "{}", ["a/x"]],
    ["{ models: ['a/x', 'a/y'] }", "{}", ["a/x", "a/y"]],
    ["{ model: 'a/z', models: ['a/x', 'a/z', 'a/x'] }", "{}", ["a/z", "a/x"]],
    ["{ model: 'a/z', models: ['a/x'] }", "{ model: 'b/z' }", ["b/z", "a/x"]],
    ["{ model: 'a/z', models: ['a/x'] }", "{ models: ['b/x'] }", ["a/z", "b/x"]],
    ["{ models: [] }", "{}", undefined],
  ])("are those to choose from: %s, then %s", async (defaults, agent, models) => {
    const entry = agent.replace("{", "{ id: 'b', ");
    const file = await writeConfig(`{ agents: { defaults: ${defaults}, list: [${entry}] } }`);
    const loaded = await loadConfig(file, "b");
    expect(loaded.models).toEqual(models);
    expect(loaded.model).toBe(models?.[0]);
    expect(loaded.warnings).toEqual([]);
  });

  const provider = (text: string): string => `{ models: { providers: { x: ${text} } } }`;
  const X = "models.providers.x";

  it.each([
    [
      "{ agents: { defaults: { model: 'gpt' } } }",
      "FILE:1:32  agents.defaults.model  does not name a model; expected provider/model, as in anthropic/claude-sonnet-4-5",
    ],
    [
      "{ agents: { defaults: { models: ['a/x', 'gpt'] } } }",
      "FILE:1:41  agents.defaults.models[1]  does not name a model; expected provider/model, as in anthropic/claude-sonnet-4-5",
    ],
    [
      provider("1"),
      `FILE:1:29  ${X}  is a number; expected an object such as { type: "openai-compatible", baseUrl }`,
    ],
    [
      provider("{}"),
      `FILE:1:26  ${X}.type  is missing; expected one of anthropic, openai, google, openai-compatible`,
    ],
    [
      provider("{ type: 'openai-compatible' }"),
      `FILE:1:26  ${X}.baseUrl  is missing; expected a string`,
    ],
    [
      provider("{ type: 'openai', baseUrl: 'localhost' }"),
      `FILE:1:56  ${X}.baseUrl  is not a URL; expected one such as https://example.com/mcp`,
    ],
    [
      provider("{ type: 'openai', contextWindow: 5 }"),
      `FILE:1:62  ${X}.contextWindow  is 5; expected a whole number of tokens from 1000 to 100000000`,
    ],
    [
      provider("{ type: 'openai', baseURL: 'x' }"),
      `FILE:1:47  ${X}.baseURL  unknown key; did you mean "baseUrl"?`,
    ],
    [
      "{ models: { providers: { 'a/b': { type: 'openai' } } } }",
      'FILE:1:26  models.providers["a/b"]  has a "/" in its name; expected one without',
    ],
  ])("are checked: %s", async (text, message) => {
    expect(await messagesOf(text)).toEqual([message]);
  });
});
