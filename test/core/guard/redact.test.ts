import { describe, expect, it } from "vitest";
import { redactStage } from "../../../src/core/guard/redact.ts";
import type { ContentBlock } from "../../../src/core/types/content.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { GuardedCall, Next } from "../../../src/core/types/guard.ts";
import type { CallOutcome, ToolUpdate, UpdateListener } from "../../../src/core/types/tool.ts";
import { Redactor } from "../../../src/core/redaction/redactor.ts";
import { callOf, pass, subject } from "./subjects.ts";

const SECRET = "hunter2-hunter2";
const redactor = new Redactor();
redactor.add(SECRET);
const stage = redactStage(redactor);

const SUBJECT = subject("docs/search");

function call(onUpdate?: UpdateListener): GuardedCall {
  return callOf(SUBJECT, { args: { query: SECRET }, onUpdate });
}

/** Sends a call through the stage. */
function redacted(of: GuardedCall, next: Next): Promise<CallOutcome> {
  return pass(() => stage, of, next);
}

function answer(outcome: CallOutcome): Promise<CallOutcome> {
  return redacted(call(), async () => outcome);
}

describe("an outcome", () => {
  it("is the same one where it holds no secret", async () => {
    const outcome: CallOutcome = { content: [{ type: "text", text: "harmless" }] };
    expect(await answer(outcome)).toBe(outcome);
  });

  it("tells no secret in its text, its structure, its failure or beside them", async () => {
    expect(
      await answer({
        content: [
          { type: "text", text: `it is ${SECRET}`, _meta: { key: SECRET } },
          { type: "resource_link", uri: `https://a.example/?t=${SECRET}` },
          { type: "resource", resource: { uri: "file:///a", text: SECRET } },
          { type: "image", data: Buffer.from(SECRET).toString("base64"), mimeType: "image/png" },
        ],
        structuredContent: { [SECRET]: [SECRET] },
        isError: true,
        _meta: { said: SECRET },
        failure: { code: "SERVER_ERROR", message: `no access with ${SECRET}` },
      }),
    ).toEqual({
      content: [
        { type: "text", text: "it is [REDACTED]", _meta: { key: "[REDACTED]" } },
        { type: "resource_link", uri: "https://a.example/?t=[REDACTED]" },
        { type: "resource", resource: { uri: "file:///a", text: "[REDACTED]" } },
        { type: "image", data: "[REDACTED]", mimeType: "image/png" },
      ],
      structuredContent: { "[REDACTED]": ["[REDACTED]"] },
      isError: true,
      _meta: { said: "[REDACTED]" },
      failure: { code: "SERVER_ERROR", message: "no access with [REDACTED]" },
    });
  });

  it("tells no secret that goes over several blocks", async () => {
    const image: ContentBlock = { type: "image", data: "aGk=", mimeType: "image/png" };
    expect(
      await answer({
        content: [
          { type: "text", text: "it is hunt" },
          image,
          { type: "resource", resource: { uri: "file:///a", text: "er2-hu" } },
          { type: "text", text: "nter2, they say", _meta: { key: SECRET } },
        ],
      }),
    ).toEqual({
      content: [
        { type: "text", text: "it is [REDACTED]" },
        image,
        { type: "resource", resource: { uri: "file:///a", text: "" } },
        { type: "text", text: ", they say", _meta: { key: "[REDACTED]" } },
      ],
    });
  });

  it("of several blocks without a secret is the same one", async () => {
    const outcome: CallOutcome = {
      content: [
        { type: "text", text: "hunter2" },
        { type: "text", text: "hunter2" },
      ],
    };
    expect(await answer(outcome)).toBe(outcome);
  });

  it.each([0, 1, 2])(
    "has no secret in a medium of a megabyte, wherever it begins: %i",
    async (at) => {
      const bytes = Buffer.alloc(1024 * 1024, "x");
      bytes.write(SECRET, 500_001 + at);
      const data = bytes.toString("base64");
      const { content } = await answer({
        content: [{ type: "image", data, mimeType: "image/png" }],
      });
      const [told] = content;
      const rest = told?.type === "image" ? told.data : "";
      expect(rest.length).toBeLessThan(data.length);
      expect(rest).toContain("[REDACTED]");
    },
  );

  const large = Buffer.from(`${SECRET}${"x".repeat(2 * 1024 * 1024)}`).toString("base64");
  it.each<[ContentBlock, ContentBlock]>([
    [
      { type: "image", data: large, mimeType: "image/png", _meta: { a: SECRET } },
      { type: "image", data: large, mimeType: "image/png", _meta: { a: "[REDACTED]" } },
    ],
    [
      { type: "audio", data: large, mimeType: SECRET },
      { type: "audio", data: large, mimeType: "[REDACTED]" },
    ],
    [
      { type: "resource", resource: { uri: `a:${SECRET}`, blob: large }, _meta: { a: SECRET } },
      {
        type: "resource",
        resource: { uri: "a:[REDACTED]", blob: large },
        _meta: { a: "[REDACTED]" },
      },
    ],
  ])("has large binary data left alone, and nothing else: $type", async (block, told) => {
    const text: ContentBlock = { type: "text", text: SECRET };
    const outcome = await answer({ content: [block, text], _meta: { a: SECRET } });
    expect(outcome).toEqual({
      content: [told, { type: "text", text: "[REDACTED]" }],
      _meta: { a: "[REDACTED]" },
    });
  });
});

describe("what comes before an outcome", () => {
  it("tells no secret in its updates", async () => {
    const heard: ToolUpdate[] = [];
    const listening = call((update) => heard.push(update));
    await redacted(listening, async (inner) => {
      inner.onUpdate?.({
        content: [{ type: "text", text: SECRET }],
        progress: { progress: 1, message: `using ${SECRET}` },
      });
      inner.onUpdate?.({ content: [] });
      return { content: [] };
    });
    expect(heard).toEqual([
      {
        content: [{ type: "text", text: "[REDACTED]" }],
        progress: { progress: 1, message: "using [REDACTED]" },
      },
      { content: [] },
    ]);
  });

  it("is the caller's own call: arguments as given, decisions for all to see", async () => {
    const listening = call(() => {});
    await redacted(listening, async (inner) => {
      expect(inner.args).toBe(listening.args);
      inner.decision = { verdict: "approved", rule: inner.decision.verdict };
      return { content: [] };
    });
    expect(listening.decision).toEqual({ verdict: "approved", rule: "allowed" });
    const silent = call();
    await redacted(silent, async (inner) => {
      expect(inner).toBe(silent);
      return { content: [] };
    });
  });

  it("tells no secret in what it fails with", async () => {
    const error = new PlugboardError("REFUSED_BY_POLICY", `not with ${SECRET}`);
    const refused = redacted(call(), () => Promise.reject(error));
    await expect(refused).rejects.toMatchObject({
      code: "REFUSED_BY_POLICY",
      message: "not with [REDACTED]",
    });
  });
});

describe("a call that somebody watches", () => {
  it("tells which parts of the answer had secrets, and where these are from", async () => {
    const known = new Redactor();
    known.addCertain(SECRET, JSON.stringify(["vault", "app", "token", null]));
    const watched = callOf(SUBJECT, { timeline: { steps: [], redacted: [] } });
    const content: ContentBlock[] = [
      { type: "text", text: "nothing" },
      { type: "text", text: `the key is ${SECRET}` },
    ];
    const told = await pass(
      () => redactStage(known),
      watched,
      async () => ({ content }),
    );
    expect(JSON.stringify(told)).not.toContain(SECRET);
    expect(watched.timeline?.redacted).toEqual([
      { path: "content[1].text", sources: ["secret://vault/app#token"] },
    ]);
  });
});
