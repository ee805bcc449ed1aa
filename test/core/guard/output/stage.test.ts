import { describe, expect, it } from "vitest";
import { outputStage } from "../../../../src/core/guard/output/stage.ts";
import type { Subject } from "../../../../src/core/types/guard.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import type { CallOutcome } from "../../../../src/core/types/tool.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { callOf, pass as passStage } from "../subjects.ts";

const WEATHER: JsonObject = {
  type: "object",
  properties: { temperature: { type: "number" } },
  required: ["temperature"],
};

function subject(outputSchema?: JsonObject, overrides: Partial<Subject> = {}): Subject {
  return {
    canonical: "sky/weather",
    publicName: "mcp__sky__weather",
    source: { kind: "mcp", server: "sky", tool: "weather" },
    origin: "defaults",
    ownerOnly: false,
    hash: "",
    ...(outputSchema !== undefined && { outputSchema }),
    ...overrides,
  };
}

/** What a caller gets when the server answers this. */
async function pass(
  answer: CallOutcome,
  tool: Subject = subject(WEATHER),
  stageFor = outputStage(silentLogger),
): Promise<CallOutcome> {
  return passStage(stageFor, callOf(tool), async () => answer);
}

function refused(message: string): CallOutcome {
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    failure: { code: "INVALID_RESULT", message, mayHaveRun: true },
  };
}

describe("an answer to a tool with an outputSchema", () => {
  it("passes as it is where it is valid", async () => {
    const answer: CallOutcome = {
      content: [{ type: "text", text: "21.5 °C" }],
      structuredContent: { temperature: 21.5 },
    };
    expect(await pass(answer)).toBe(answer);
  });

  it("is an error that names the place where it is not, and nothing of it is kept", async () => {
    const answer: CallOutcome = {
      content: [{ type: "text", text: "warm" }],
      structuredContent: { temperature: "warm" },
      _meta: { more: 1 },
    };
    expect(await pass(answer)).toEqual(
      refused("the answer of 'weather' breaks its outputSchema: /temperature must be number"),
    );
  });

  it("is an error where it has no structured content", async () => {
    expect(await pass({ content: [{ type: "text", text: "warm" }] })).toEqual(
      refused(
        "the answer of 'weather' has none of the structured content that its outputSchema describes",
      ),
    );
  });

  it("is an error where it is too large to be checked", async () => {
    const structuredContent = { temperature: 1, all: Array.from({ length: 200_000 }, () => 0) };
    expect(await pass({ content: [], structuredContent })).toEqual(
      refused(
        "the answer of 'weather' cannot be checked against its outputSchema: it has more than 200000 values",
      ),
    );
  });

  it("passes where it is an error of the tool's own", async () => {
    const answer: CallOutcome = {
      content: [{ type: "text", text: "no such city" }],
      isError: true,
    };
    expect(await pass(answer)).toBe(answer);
  });

  it("of a native tool is told of by its public name", async () => {
    const tool = subject(WEATHER, { source: { kind: "native" }, publicName: "forecast" });
    const { failure } = await pass({ content: [], structuredContent: {} }, tool);
    expect(failure?.message).toBe(
      "the answer of 'forecast' breaks its outputSchema: must have required property 'temperature'",
    );
  });
});

describe("the stage", () => {
  it("is not there for a tool without an outputSchema", () => {
    expect(outputStage(silentLogger)(subject())).toBeUndefined();
  });

  it("lets a refusal of what comes after it through", async () => {
    const next = (): Promise<never> => Promise.reject(new Error("refused"));
    const passed = passStage(outputStage(silentLogger), callOf(subject(WEATHER)), next);
    await expect(passed).rejects.toThrow("refused");
  });

  it("lets answers pass where the schema cannot be used, and says so once", async () => {
    const logger = recordingLogger();
    const stageFor = outputStage(logger);
    const tool = subject({ $ref: "https://example.com/weather.json" });
    const answer: CallOutcome = { content: [] };
    expect(await pass(answer, tool, stageFor)).toBe(answer);
    expect(await pass(answer, tool, stageFor)).toBe(answer);
    expect(logger.lines).toEqual([
      {
        level: "warn",
        message:
          "the outputSchema is not enforced: can't resolve reference https://example.com/weather.json from id #",
        fields: { tool: "sky/weather" },
      },
    ]);
  });

  it("compiles a schema once for calls at the same time", async () => {
    const logger = recordingLogger();
    const stageFor = outputStage(logger);
    const tool = subject({ type: "object", properties: { a: { pattern: "(?=b)" } } });
    const answer: CallOutcome = { content: [], structuredContent: { a: "c" } };
    const outcomes = await Promise.all([1, 2, 3].map(() => pass(answer, tool, stageFor)));
    expect(outcomes).toEqual([answer, answer, answer]);
    expect(logger.lines.map(({ message }) => message)).toEqual([
      "the outputSchema is enforced without the pattern (?=b): not supported",
    ]);
  });

  it("counts the patterns that are not supported", async () => {
    const logger = recordingLogger();
    const tool = subject({ allOf: ["(?=a)", "(?!b)", "(c)\\1"].map((pattern) => ({ pattern })) });
    await pass({ content: [], structuredContent: "x" }, tool, outputStage(logger));
    expect(logger.lines[0]?.message).toBe(
      "the outputSchema is enforced without the pattern (?=a) and 2 more: not supported",
    );
  });
});
