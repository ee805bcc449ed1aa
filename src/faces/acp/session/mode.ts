// How much a session may do by itself: a choice of the person at the editor, within what the guard allows.

import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Tool } from "../../../model/tool.ts";

export const MODES = [
  { id: "ask", name: "Ask", description: "Asks before a tool is called" },
  { id: "auto", name: "Auto", description: "Calls tools without asking" },
  {
    id: "read-only",
    name: "Read only",
    description: "Calls only tools that say they change nothing, and asks before each",
  },
] as const;

export type Mode = (typeof MODES)[number]["id"];

const DEFAULT_MODE: Mode = "ask";

/** Where modes are set by clients that know config options. */
export const MODE_OPTION = "mode";

export function isMode(id: string): id is Mode {
  return MODES.some((mode) => mode.id === id);
}

/**
 * The mode of a session that is opened again. Not `auto`: who said so did not speak of what comes weeks later,
 * with other servers, and perhaps to somebody else.
 */
export function modeAgain(kept: Mode | undefined): Mode {
  return kept === undefined || kept === "auto" ? DEFAULT_MODE : kept;
}

export function modeState(current: Mode): SessionModeState {
  return { currentModeId: current, availableModes: MODES.map((mode) => ({ ...mode })) };
}

export function modeOption(current: Mode): SessionConfigOption {
  return {
    id: MODE_OPTION,
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: current,
    options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
  };
}

/** Whether the mode lets the tool be called at all; the guard has its own say afterwards. */
export function permits(mode: Mode, tool: Pick<Tool, "annotations">): boolean {
  return mode !== "read-only" || tool.annotations?.["readOnlyHint"] === true;
}
