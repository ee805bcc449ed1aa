// Runs one turn that a local stub refuses. The first prompt then finds its code loaded and compiled; otherwise it takes
// several times as long. Nothing is sent anywhere.

import type { Tool } from "../model/tool.ts";
import { runTurn } from "./loop.ts";
import { type ModelOptions, openModel } from "./model.ts";

const TOOL: Tool = {
  name: "warm_up",
  label: "warm up",
  description: "Never called.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  source: { kind: "native" },
  execute: () => Promise.resolve({ content: [] }),
};

/** Rejects if the model cannot be opened. */
export async function warmUpTurn(id: string, options: ModelOptions): Promise<void> {
  const fetch = () => Promise.resolve(new Response("{}", { status: 400 }));
  const model = await openModel(id, { ...options, fetch });
  await runTurn({ model, prompt: [{ type: "text", text: "Hello." }], tools: () => [TOOL] });
  await model.close();
}
