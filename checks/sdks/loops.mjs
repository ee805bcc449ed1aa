// One conversation for each API, with a scripted model and real servers: the model searches for a tool and calls it.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import OpenAI from "openai";
import { toAiSdkTools } from "../../dist/adapters/ai-sdk.js";
import { toOpenAiTools } from "../../dist/adapters/openai.js";
import { openBoard } from "../../dist/index.js";
import { startModel } from "../../test/support/model/start.mjs";

const OFFICE = fileURLToPath(new URL("../../test/fixtures/servers/office.mjs", import.meta.url));
const FOUND = "mcp__office__create_voucher";
const SEARCH = { name: "search_tools", arguments: { queries: ["create a voucher"], limit: 1 } };
const DIRECT = { name: FOUND, arguments: { id: "7" } };
const BY_CALLER = { name: "call_tool", arguments: { name: FOUND, arguments: { id: "7" } } };
const CALLED = /"tool":"create_voucher","id":"7"/;

const board = await openBoard({
  servers: { office: { command: process.execPath, args: [OFFICE] } },
});
try {
  for (const api of ["chat", "responses"]) {
    await aiSdk(api, "live", (tools) => tools, [SEARCH, DIRECT]);
    const mine = tool({ inputSchema: jsonSchema({ type: "object" }), execute: () => "my own" });
    const own = { name: "mine", arguments: {} };
    await aiSdk(api, "copied", (tools) => ({ ...tools, mine }), [SEARCH, BY_CALLER, own]);
    await openai(api, [SEARCH, DIRECT]);
  }
} finally {
  await board.close();
}

async function aiSdk(api, kind, prepare, calls) {
  await withModel(calls, async (model) => {
    const provider = createOpenAI({ baseURL: `${model.url}/v1`, apiKey: "none" });
    const { text } = await generateText({
      model: provider[api]("scripted"),
      prompt: "go",
      tools: prepare(toAiSdkTools(board, { provider: "openai" })),
      stopWhen: stepCountIs(9),
    });
    return text;
  });
  process.stdout.write(`AI SDK, ${api}, a set that is ${kind}: passed\n`);
}

async function openai(api, calls) {
  await withModel(calls, async (model) => {
    const client = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: "none" });
    const adapter = toOpenAiTools(board, { api });
    const ask = api === "chat" ? askChat : askResponses;
    for (const said = [{ role: "user", content: "go" }]; ;) {
      const { text, items, answers } = await ask(client, adapter, said);
      if (answers.length === 0) return text;
      said.push(...items, ...answers);
    }
  });
  process.stdout.write(`openai, ${api}: passed\n`);
}

async function askChat(client, adapter, messages) {
  const { tools } = adapter;
  const { choices } = await client.chat.completions.create({ model: "scripted", messages, tools });
  const { message } = choices[0];
  const answers = await adapter.executeAll(message);
  return { text: message.content, items: [message], answers };
}

async function askResponses(client, adapter, input) {
  const { tools } = adapter;
  const response = await client.responses.create({ model: "scripted", input, tools });
  const answers = await adapter.executeAll(response);
  return { text: response.output_text, items: response.output, answers };
}

async function withModel(calls, converse) {
  const turns = [...calls.map((call) => ({ toolCalls: [call] })), { text: "done" }];
  const model = await startModel({ turns });
  try {
    assert.equal(await converse(model), "done");
    const results = model.requests.at(-1).toolResults.map(({ text }) => text);
    assert.equal(results.length, calls.length);
    assert.match(results[1], CALLED);
  } finally {
    await model.close();
  }
}
