import { describe, expect, it } from "vitest";
import { estimateTokens, roughly } from "../../src/util/tokens.ts";

describe("an estimate of tokens", () => {
  // Counted with OpenAI's o200k and with Anthropic's published tokenizer.
  it.each([
    ["English", "Searches the files below a directory and returns those that match.", 13, 14],
    ["JSON", '{"type":"object","properties":{"path":{"type":"string"}}}', 14, 14],
    [
      "Chinese",
      "在指定的目录中搜索文件,并返回匹配的文件列表。如果没有找到文件,则返回空列表。",
      25,
      25,
    ],
    ["French", "Recherche des fichiers dans le répertoire indiqué et renvoie la liste.", 14, 20],
    ["Russian", "Ищет файлы в указанном каталоге и возвращает список найденных файлов.", 18, 32],
  ])("is near what tokenizers count in %s", (_, text, ...counted) => {
    const estimate = estimateTokens(text);
    expect(estimate).toBeGreaterThan(Math.min(...counted) * 0.75);
    expect(estimate).toBeLessThan(Math.max(...counted) * 1.4);
  });

  it.each([
    [0, "~0"],
    [999, "~999"],
    [1000, "~1k"],
    [5240, "~5.2k"],
    [123_456, "~123k"],
  ])("of %i reads %s", (tokens, text) => {
    expect(roughly(tokens)).toBe(text);
  });
});
