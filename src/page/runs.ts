// The calls that are made in this tab: they go on while you look at other views, and end with the tab.

import { signal } from "@preact/signals";
import type { CallQuestion, PageCallEvents, ToolDetails } from "../serve/gateway/page/wire.ts";
import { callTool, GatewayError, home, type PageCallEvent } from "./gateway.ts";

export type RunState =
  | {
      kind: "running";
      /** The gateway where it runs, where there are several. */
      at: string | undefined;
      /** What the gateway calls it, as soon as that is known. */
      call?: string;
      progress?: PageCallEvents["progress"];
      questions: readonly CallQuestion[];
      abort: AbortController;
    }
  | { kind: "ended"; outcome: PageCallEvents["result"] }
  | { kind: "failed"; error: GatewayError };

export interface Run {
  agent: string;
  /** `server/tool`, as its view is named. */
  tool: string;
  args: Record<string, unknown>;
  state: RunState;
}

type RunTool = Pick<ToolDetails, "agent" | "name" | "canonical">;

const MOST_KEPT = 20;

/** The latest call of each tool, by `agent/tool`. */
export const runs = signal<ReadonlyMap<string, Run>>(new Map());

export function runKey({ agent, tool }: Pick<Run, "agent" | "tool">): string {
  return `${agent}/${tool}`;
}

/** Resolves when the call has ended. */
export async function startRun(
  { agent, name, canonical }: RunTool,
  args: Record<string, unknown>,
): Promise<void> {
  const abort = new AbortController();
  const of = { agent, tool: canonical, args };
  const key = runKey(of);
  const set = (state: RunState): void => {
    const kept = [...runs.value].filter(
      ([other, each], at, all) =>
        other !== key && (each.state.kind === "running" || at > all.length - MOST_KEPT),
    );
    runs.value = new Map([...kept, [key, { ...of, state }]]);
  };
  set({ kind: "running", at: home.value, questions: [], abort });
  try {
    await callTool(
      { agent, tool: name, args },
      (event) => {
        const state = runs.value.get(key)?.state;
        if (state?.kind === "running") set(after(state, event));
      },
      abort.signal,
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    set({ kind: "failed", error });
  }
}

function after(state: Extract<RunState, { kind: "running" }>, event: PageCallEvent): RunState {
  switch (event.name) {
    case "open":
      return { ...state, call: event.is.call };
    case "progress":
      return { ...state, progress: event.is };
    case "question":
      return { ...state, questions: [...state.questions, event.is] };
    case "answered":
      return { ...state, questions: state.questions.filter(({ id }) => id !== event.is.id) };
    case "result":
      return { kind: "ended", outcome: event.is };
  }
}

export function runningNow(): Run[] {
  return [...runs.value.values()].filter(({ state }) => state.kind === "running");
}

// The tab is what holds a call: closing it cancels the call, so the browser asks first.
addEventListener("beforeunload", (event) => {
  if (runningNow().length > 0) event.preventDefault();
});
