// A scripted model, a turn put to it, and everything that was told on the way.

import { afterEach } from "vitest";
import {
  runTurn,
  type TurnEvent,
  type TurnOptions,
  type TurnResult,
} from "../../../src/agent/loop/loop.ts";
import { type AgentModel, openModel } from "../../../src/agent/loop/model.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { ModelProviderType } from "../../../src/core/types/agent-config.ts";
import type { Tool, ToolResult } from "../../../src/core/types/tool.ts";
import { type Clock, systemClock } from "../../../src/util/clock.ts";
import { startModel, type Model, type ModelOptions } from "../../support/model/start.mjs";

export const KEY = "sk-scripted-key";

/** Those whose APIs carry the arguments of a call as text, so that a model may get them wrong. */
export const TYPES: ModelProviderType[] = ["anthropic", "openai", "openai-compatible"];
export const ALL_TYPES: ModelProviderType[] = [...TYPES, "google"];

interface Ran extends TurnResult {
  events: TurnEvent[];
  /** What the person reads. */
  text: string;
  /** Milliseconds that were waited before asking again. */
  waits: number[];
}

export interface Rig {
  model: Model;
  agentModel: AgentModel;
  run: (options?: Partial<TurnOptions>) => Promise<Ran>;
}

const started: { close(): Promise<void> }[] = [];

/** To be called once at the top of a suite. */
export function closeModels(): void {
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.close()));
  });
}

export async function rig(
  turns: ModelOptions["turns"],
  type: ModelProviderType = "anthropic",
  contextWindow?: number,
  silence?: { notice: number; timeout: number },
): Promise<Rig> {
  const model = await startModel({ turns, apiKey: KEY });
  started.push(model);
  const agentModel = await openModel("scripted/model", {
    env: {},
    ...silence,
    providers: {
      scripted: {
        type,
        baseUrl: `${model.url}/v1`,
        apiKey: KEY,
        ...(contextWindow !== undefined && { contextWindow }),
      },
    },
  });
  started.push(agentModel);
  return {
    model,
    agentModel,
    async run(options = {}) {
      const events: TurnEvent[] = [];
      const waits: number[] = [];
      const result = await runTurn({
        model: agentModel,
        prompt: [{ type: "text", text: "hello" }],
        tools: () => [],
        clock: hasty(waits),
        random: () => 0.5,
        ...options,
        onEvent(event) {
          events.push(event);
          options.onEvent?.(event);
        },
      });
      const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
      return { ...result, events, text, waits };
    },
  };
}

/** Notes what it is asked to wait for, and does not. */
function hasty(waits: number[]): Clock {
  return {
    ...systemClock,
    after(ms, task) {
      waits.push(ms);
      return systemClock.after(0, task);
    },
  };
}

type Execute = (
  args: JsonObject,
  signal: AbortSignal | undefined,
  tell: (message: string) => void,
) => string | ToolResult | Promise<string | ToolResult>;

export function tool(name: string, execute: Execute, parameters: JsonObject = {}): Tool {
  return {
    name,
    label: name,
    description: `does ${name}`,
    parameters: { type: "object", ...parameters },
    source: { kind: "native" },
    async execute(_, args, signal, onUpdate) {
      const tell = (message: string): void =>
        onUpdate?.({ content: [], progress: { progress: 1, message } });
      const result = await execute(args, signal, tell);
      return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
    },
  };
}

export function only<Type extends TurnEvent["type"]>(
  events: readonly TurnEvent[],
  type: Type,
): Extract<TurnEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<TurnEvent, { type: Type }> => event.type === type);
}
