// What the user can set for a session: its mode, which says how much the session may do by itself, and the model that
// answers.

import type {
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import { PlugboardError, withHint } from "../../../core/types/errors.ts";
import type { Tool } from "../../../core/types/tool.ts";
import { oneLine } from "../../../util/text.ts";
import type { ModelChoice } from "../responder/responder.ts";
import { invalidParams } from "../wire/params.ts";

const MODES = [
  { id: "ask", name: "Ask", description: "Asks before calling a tool" },
  { id: "auto", name: "Auto", description: "Calls tools without asking" },
  {
    id: "read-only",
    name: "Read only",
    description: "Calls only tools that are marked as read-only, and asks before each call",
  },
] as const;

export type Mode = (typeof MODES)[number]["id"];

const DEFAULT_MODE: Mode = "ask";
const LONGEST_VALUE = 200;

export interface UserSettings {
  mode: Mode;
  /** Undefined if there is no model. */
  readonly models: ModelChoice | undefined;
  chooseModel(id: string): Promise<void>;
}

/** Whether the mode lets the tool be called at all. The guard decides after that. */
export function permits(mode: Mode, tool: Pick<Tool, "annotations">): boolean {
  return mode !== "read-only" || tool.annotations?.["readOnlyHint"] === true;
}

/**
 * The mode of a session that is opened again, from all that were set. `auto` is not kept: the user who chose it did
 * not agree to what happens weeks later, with other servers, perhaps for someone else.
 */
export function reopenedMode(modes: readonly string[]): Mode {
  const last = modes.findLast(isMode);
  return last === undefined || last === "auto" ? DEFAULT_MODE : last;
}

export function modeState(current: Mode): SessionModeState {
  return { currentModeId: current, availableModes: MODES.map((mode) => ({ ...mode })) };
}

export function configOptions({ mode, models }: UserSettings): SessionConfigOption[] {
  return models === undefined ? [modeOption(mode)] : [modeOption(mode), modelOption(models)];
}

/** All options with their current values. */
export function optionsUpdate(settings: UserSettings): SessionUpdate {
  return { sessionUpdate: "config_option_update", configOptions: configOptions(settings) };
}

/** Resolves to the update that tells the client. Throws −32602 if there is no such option or value. */
export async function changeOption(
  settings: UserSettings,
  option: string,
  value: string,
): Promise<SessionUpdate> {
  if (option === "mode") {
    changeMode(settings, value, "value");
    return { sessionUpdate: "current_mode_update", currentModeId: settings.mode };
  }
  if (option === "model" && settings.models !== undefined) {
    await changeModel(settings, settings.models, value);
    return optionsUpdate(settings);
  }
  const known = configOptions(settings).map(({ id }) => id);
  throw invalidParams("configId", `there is no option ${listed(option, known)}`);
}

export function changeMode(settings: UserSettings, mode: string, path: string): void {
  if (!isMode(mode)) {
    const known = MODES.map(({ id }) => id);
    throw invalidParams(path, `there is no mode ${listed(mode, known)}`);
  }
  settings.mode = mode;
}

async function changeModel(
  settings: UserSettings,
  { ids }: ModelChoice,
  id: string,
): Promise<void> {
  if (!ids.includes(id)) throw invalidParams("value", `there is no model ${listed(id, ids)}`);
  try {
    await settings.chooseModel(id);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    throw invalidParams("value", `${id} cannot be used: ${withHint(error)}`);
  }
}

function isMode(id: string): id is Mode {
  return MODES.some((mode) => mode.id === id);
}

function modeOption(currentValue: Mode): SessionConfigOption {
  const options = MODES.map(({ id, name, description }) => ({ value: id, name, description }));
  return { id: "mode", name: "Mode", category: "mode", type: "select", currentValue, options };
}

function modelOption({ current: currentValue, ids }: ModelChoice): SessionConfigOption {
  const options = ids.map((id) => ({ value: id, name: id }));
  return { id: "model", name: "Model", category: "model", type: "select", currentValue, options };
}

function listed(value: string, known: readonly string[]): string {
  const expected = known.length === 1 ? known[0] : `one of ${known.join(", ")}`;
  return `"${oneLine(value, LONGEST_VALUE)}"; expected ${expected}`;
}
