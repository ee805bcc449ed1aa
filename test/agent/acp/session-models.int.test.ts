// The choice of a session's model: shown, changed and kept, and how the conversation continues.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import {
  type LoadSessionResponse,
  methods,
  type SessionConfigOption,
} from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, it } from "vitest";
import { Models } from "../../../src/agent/loop/models.ts";
import { modelResponder } from "../../../src/agent/acp/responder/model-responder.ts";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { type Model, startModel, type Turn } from "../../support/model/start.mjs";
import { useDesk } from "./harness.ts";

const desk = useDesk();
const { session } = methods.agent;

let model: Model | undefined;
let models: Models | undefined;

afterEach(async () => {
  await models?.close();
  await model?.close();
});

const IDS = ["claude/one", "gpt/two", "keyless/three"] as const;

/** One scripted model behind two providers, and a third that lacks its key. */
async function script(turns: Turn[], ids: readonly [string, ...string[]] = IDS) {
  model = await startModel({ turns });
  const baseUrl = `${model.url}/v1`;
  models = new Models(ids, {
    env: {},
    providers: {
      claude: { type: "anthropic", baseUrl, apiKey: "k" },
      gpt: { type: "openai", baseUrl, apiKey: "k" },
      keyless: { type: "google", baseUrl, apiKey: "${NO_SUCH_KEY}" },
    },
  });
  const options = { models, systemPrompt: undefined };
  const newResponder: NewResponder = (past, settings) => modelResponder(past, options, settings);
  return newResponder;
}

type Editor = Awaited<ReturnType<typeof desk.open>>;

function choose(editor: Editor, sessionId: string, value: string) {
  return editor.agent.request(session.setConfigOption, { sessionId, configId: "model", value });
}

function modelOf(options: readonly SessionConfigOption[] | null | undefined) {
  return options?.find(({ id }) => id === "model");
}

const opened = (editor: Editor) =>
  editor.agent.request(session.new, { cwd: desk.directory, mcpServers: [] });

describe("the model of a session", () => {
  it("is opened while the session starts, and asked nothing", async () => {
    const newResponder = await script([], ["claude/one"]);
    const asked: string[] = [];
    const open = models?.open.bind(models);
    if (models !== undefined && open !== undefined) {
      models.open = (id) => {
        asked.push(id);
        return open(id);
      };
    }
    const responder = await newResponder([]);
    expect(asked).toEqual([]);
    await responder?.load?.();
    expect(asked).toEqual(["claude/one"]);
    expect(model?.requests).toEqual([]);
  });

  it("that cannot be used does not keep a session from starting", async () => {
    const newResponder = await script([], ["keyless/three"]);
    const responder = await newResponder([]);
    expect(await responder?.load?.()).toBeUndefined();
    await expect(models?.open("keyless/three")).rejects.toMatchObject({ code: "NEEDS_AUTH" });
  });

  it("is an option, the configured one first", async () => {
    const editor = await desk.open({ newResponder: await script([]) });
    const { configOptions } = await opened(editor);
    expect(modelOf(configOptions)).toEqual({
      id: "model",
      name: "Model",
      category: "model",
      type: "select",
      currentValue: "claude/one",
      options: IDS.map((id) => ({ value: id, name: id })),
    });
  });

  it("is shown even if it is the only one, but not without a model", async () => {
    const newResponder = await script([], ["claude/one"]);
    const { configOptions } = await opened(await desk.open({ newResponder }));
    expect(modelOf(configOptions)).toMatchObject({ currentValue: "claude/one" });
    const none = await opened(await desk.open());
    expect(none.configOptions?.map(({ id }) => id)).toEqual(["mode"]);
  });

  it("changes with the next prompt, only for this session", async () => {
    const editor = await desk.open({
      newResponder: await script([{ text: "first" }, { text: "second" }, { text: "third" }]),
    });
    const { sessionId } = await opened(editor);
    const { sessionId: other } = await opened(editor);
    await editor.prompt(sessionId, "one");
    const { configOptions } = await choose(editor, sessionId, "gpt/two");
    expect(modelOf(configOptions)).toMatchObject({ currentValue: "gpt/two" });
    const [update] = editor.of(sessionId, "config_option_update");
    expect(update?.configOptions).toEqual(configOptions);
    await editor.prompt(sessionId, "two");
    await editor.prompt(other, "three");
    expect(model?.requests.map(({ api, model: name }) => [api, name])).toEqual([
      ["messages", "one"],
      ["responses", "two"],
      ["messages", "one"],
    ]);
  });

  it("is still shown when the mode is changed", async () => {
    const editor = await desk.open({ newResponder: await script([]) });
    const { sessionId } = await opened(editor);
    await editor.agent.request(session.setMode, { sessionId, modeId: "auto" });
    const [update] = editor.of(sessionId, "config_option_update");
    expect(update?.configOptions.map(({ id }) => id)).toEqual(["mode", "model"]);
  });

  it.each([
    [
      "model",
      "claude/none",
      "value",
      'there is no model "claude/none"; expected one of claude/one, gpt/two, keyless/three',
    ],
    [
      "model",
      "keyless/three",
      "value",
      "keyless/three cannot be used: the model provider 'keyless' has no key: models.providers.keyless.apiKey needs the variable NO_SUCH_KEY, which is not set: export NO_SUCH_KEY",
    ],
    ["speed", "fast", "configId", 'there is no option "speed"; expected one of mode, model'],
  ])("%s is not changed to %s", async (configId, value, path, message) => {
    const editor = await desk.open({ newResponder: await script([{ text: "ok" }]) });
    const { sessionId } = await opened(editor);
    const params = { sessionId, configId, value };
    await expect(editor.agent.request(session.setConfigOption, params)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(message),
      data: { path, message },
    });
    expect(editor.of(sessionId, "config_option_update")).toEqual([]);
    await editor.prompt(sessionId, "go");
    expect(model?.requests[0]?.model).toBe("one");
  });

  it("is not an option without a model", async () => {
    const editor = await desk.open();
    const { sessionId } = await opened(editor);
    await expect(choose(editor, sessionId, "claude/one")).rejects.toMatchObject({
      code: -32602,
      data: { path: "configId", message: 'there is no option "model"; expected mode' },
    });
  });

  it("that cannot be used is reported when it is asked", async () => {
    const editor = await desk.open({ newResponder: await script([], ["keyless/three"]) });
    const { sessionId } = await opened(editor);
    expect(await editor.failure(sessionId, "Hello?")).toMatchObject({
      message: expect.stringContaining("NO_SUCH_KEY"),
      data: { kind: "NEEDS_AUTH", retryable: false },
    });
    expect(await editor.ask(sessionId, "/mcp")).toBe("There are no servers.");
  });
});

describe("a conversation", () => {
  it("continues with another model, without the thoughts of the previous one, and back", async () => {
    const editor = await desk.open({
      newResponder: await script([
        { thinking: "hm", text: "first" },
        { thinking: "well", text: "second" },
        { text: "third" },
      ]),
    });
    const { sessionId } = await opened(editor);
    await editor.prompt(sessionId, "one");
    await choose(editor, sessionId, "gpt/two");
    await editor.prompt(sessionId, "two");
    await choose(editor, sessionId, "claude/one");
    expect(await editor.ask(sessionId, "three")).toBe("third");
    const said = model?.requests.at(-1)?.messages.map(({ role, text }) => `${role}: ${text}`);
    expect(said?.slice(1)).toEqual([
      "user: one",
      "assistant: first",
      "user: two",
      "assistant: second",
      "user: three",
    ]);
    for (const { body } of model?.requests ?? []) {
      expect(JSON.stringify(body)).not.toMatch(/signature|"hm"|"well"|encrypted_content":/);
    }
  });
});

describe("a choice", () => {
  it("that was made last counts, even if the one before takes longer to open", async () => {
    await script([]);
    let letGo = (): void => {};
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const real = models;
    const slow = {
      ids: IDS,
      open: (id: string) => (id === "gpt/two" ? gate.then(() => real?.open(id)) : real?.open(id)),
    } as Pick<Models, "ids" | "open">;
    const responder = modelResponder([], { models: slow, systemPrompt: undefined });
    const first = responder.models.choose("gpt/two");
    await responder.models.choose("claude/one");
    letGo();
    await first;
    expect(responder.models.current).toBe("claude/one");
  });

  const reopen = async (newResponder: NewResponder, sessionId: string) => {
    const editor = await desk.open({ newResponder, keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    const loaded = await editor.agent.request(session.load, params);
    return (loaded as LoadSessionResponse).configOptions;
  };

  it("is kept with the session: the last one", async () => {
    const newResponder = await script([{ text: "ok" }]);
    const editor = await desk.open({ newResponder, keeps: true });
    const { sessionId } = await opened(editor);
    await choose(editor, sessionId, "gpt/two");
    await choose(editor, sessionId, "claude/one");
    await choose(editor, sessionId, "gpt/two");
    await editor.prompt(sessionId, "go");
    await editor.close();
    const options = await reopen(newResponder, sessionId);
    expect(modelOf(options)).toMatchObject({ currentValue: "gpt/two" });
  });

  it("that no longer exists is replaced by the default", async () => {
    const newResponder = await script([]);
    const editor = await desk.open({ newResponder, keeps: true });
    const { sessionId } = await opened(editor);
    await choose(editor, sessionId, "gpt/two");
    await editor.close();
    const file = join(desk.directory, "sessions", `${sessionId}.jsonl`);
    appendFileSync(file, `${JSON.stringify({ model: 7 })}\n`);
    appendFileSync(file, `${JSON.stringify({ model: "gone/model" })}\n`);
    const options = await reopen(newResponder, sessionId);
    expect(modelOf(options)).toMatchObject({ currentValue: "claude/one" });
  });
});
