import { describe, expect, it } from "vitest";
import type { ProviderAnswer } from "../../../src/agent/loop/ask-provider.ts";
import { answerFinding } from "../../../src/cli/doctor/model.ts";

const gone: ProviderAnswer = { kind: "unreachable", reason: "127.0.0.1:9 refused the connection" };

describe("what is said of a model", () => {
  it.each<[string, string, ProviderAnswer, string, string]>([
    ["that is known", "openai/gpt", { kind: "known" }, "ok", "openai/gpt"],
    ["of a silent provider", "own/gpt", { kind: "unsure", status: 404 }, "ok", "does not say"],
    [
      "that is unknown",
      "openai/gtp",
      { kind: "unknown-model" },
      "broken",
      "openai has no model 'gtp'",
    ],
    [
      "that is mistyped",
      "own/a/gtp",
      { kind: "unknown-model", nearest: "a/gpt" },
      "broken",
      "own has no model 'a/gtp'; did you mean 'a/gpt'?",
    ],
    [
      "whose key is refused",
      "openai/gpt",
      { kind: "key-refused", status: 401 },
      "broken",
      "status 401",
    ],
    ["while the network is down", "openai/gpt", gone, "warning", "openai cannot be reached"],
    ["while Ollama is down", "ollama/llama", gone, "broken", "ollama cannot be reached"],
  ])("%s", (_, id, answer, level, message) => {
    expect(answerFinding(id, "broken", answer)).toMatchObject({
      level,
      subject: id,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["to get it", { kind: "unknown-model" } as const, "ollama/llama", "  ollama pull llama"],
    ["to start it", gone, "ollama/llama", "  ollama serve"],
    [
      "to check its key",
      { kind: "key-refused", status: 401 } as const,
      "google/g",
      "GEMINI_API_KEY",
    ],
    [
      "to check its key",
      { kind: "key-refused", status: 401 } as const,
      "own/g",
      "models.providers.own.apiKey",
    ],
  ])("offers %s", (_, answer, id, remedy) => {
    expect(answerFinding(id, "broken", answer)).toMatchObject({
      remedy: expect.stringContaining(remedy),
    });
  });
});
