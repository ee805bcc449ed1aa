// The models that are used where none is configured.

import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { findDefaultModels } from "../../../src/agent/loop/default-model.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { startModel } from "../../support/model/start.mjs";

const NOBODY = "http://127.0.0.1:9/v1";
const find = (env: Record<string, string>) =>
  findDefaultModels({ env: { OLLAMA_BASE_URL: NOBODY, ...env }, clock: systemClock });

describe("without a configured model", () => {
  it.each([
    ["ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5"],
    ["OPENAI_API_KEY", "openai/gpt-5.6"],
    ["GEMINI_API_KEY", "google/gemini-flash-latest"],
    ["GOOGLE_GENERATIVE_AI_API_KEY", "google/gemini-flash-latest"],
  ])("%s stands for %s", async (variable, id) => {
    expect(await find({ [variable]: "k" })).toEqual({ ids: [id], because: `${variable} is set` });
    expect(await find({ [variable]: "" })).toBeUndefined();
  });

  it("several keys offer several models, and Ollama is not asked", async () => {
    await using ollama = await startModel({ turns: [], models: ["qwen3:8b"] });
    const env = {
      GEMINI_API_KEY: "k",
      ANTHROPIC_API_KEY: "k",
      OLLAMA_BASE_URL: `${ollama.url}/v1`,
    };
    expect(await find(env)).toEqual({
      ids: ["anthropic/claude-sonnet-5", "google/gemini-flash-latest"],
      because: "ANTHROPIC_API_KEY is set",
    });
  });

  it.each([
    ["a key that was given", {}, ["openai/gpt-5.6"], "you gave a key for openai"],
    [
      "a key that is set comes before it",
      { GEMINI_API_KEY: "k" },
      ["google/gemini-flash-latest", "openai/gpt-5.6"],
      "GEMINI_API_KEY is set",
    ],
    [
      "the same key, set and given",
      { OPENAI_API_KEY: "k" },
      ["openai/gpt-5.6"],
      "OPENAI_API_KEY is set",
    ],
  ])("%s", async (_, env, ids, because) => {
    const keys = {
      read: async () => new Map([["openai", { kind: "key" as const, key: "given" }]]),
    };
    expect(await findDefaultModels({ env, keys, clock: systemClock })).toEqual({ ids, because });
  });

  it("Ollama offers the models that it has, except those for embeddings", async () => {
    const models = ["nomic-embed-text:latest", "qwen3:8b", "gemma4:latest"];
    await using ollama = await startModel({ turns: [], models });
    expect(await find({ OLLAMA_BASE_URL: `${ollama.url}/v1` })).toEqual({
      ids: ["ollama/qwen3:8b", "ollama/gemma4:latest"],
      because: `Ollama runs at ${new URL(ollama.url).host}`,
    });
  });

  it.each(["none at all", "only one for embeddings"])(
    "an Ollama with %s offers nothing",
    async (which) => {
      const models = which === "none at all" ? [] : ["nomic-embed-text:latest"];
      await using ollama = await startModel({ turns: [], models });
      expect(await find({ OLLAMA_BASE_URL: `${ollama.url}/v1` })).toBeUndefined();
    },
  );

  it.each(["ftp://", "http://127.0.0.1:9/v1", "${"])(
    "%j is not taken for an Ollama",
    async (url) => {
      expect(await find({ OLLAMA_BASE_URL: url })).toBeUndefined();
    },
  );

  it("a port that never answers is not waited for", async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const sockets: { destroy(): void }[] = [];
    server.on("connection", (socket) => sockets.push(socket));
    const { port } = server.address() as AddressInfo;
    const hasty = {
      ...systemClock,
      after: (_: number, task: () => void) => systemClock.after(20, task),
    };
    const env = { OLLAMA_BASE_URL: `http://127.0.0.1:${port}/v1` };
    expect(await findDefaultModels({ env, clock: hasty })).toBeUndefined();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});
