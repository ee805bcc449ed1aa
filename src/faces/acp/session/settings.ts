// What the person at the editor may set for a session: its mode, and the model that answers.

import type { SessionConfigOption, SessionUpdate } from "@agentclientprotocol/sdk";
import { PlugboardError, withHint } from "../../../model/errors.ts";
import { oneLine } from "../../../util/text.ts";
import { isMode, MODE_OPTION, MODES, modeOption } from "./mode.ts";
import { invalidParams } from "../wire/params.ts";
import type { ModelChoice } from "../responder/responder.ts";
import type { Session } from "./session.ts";

type Settings = Pick<Session, "mode" | "models" | "chooseModel">;

const MODEL_OPTION = "model";

const LONGEST_VALUE = 200;

export function configOptions({ mode, models }: Settings): SessionConfigOption[] {
  return models === undefined ? [modeOption(mode)] : [modeOption(mode), modelOption(models)];
}

/** Everything that may be set, as it is now. */
export function optionsUpdate(session: Settings): SessionUpdate {
  return { sessionUpdate: "config_option_update", configOptions: configOptions(session) };
}

/** What tells the client of the change. Throws −32602 where there is none, and then nothing has changed. */
export async function changeOption(
  session: Settings,
  option: string,
  value: string,
): Promise<SessionUpdate> {
  if (option === MODE_OPTION) {
    changeMode(session, value, "value");
    return { sessionUpdate: "current_mode_update", currentModeId: session.mode };
  }
  if (option === MODEL_OPTION && session.models !== undefined) {
    await changeModel(session, session.models, value);
    return optionsUpdate(session);
  }
  const known = configOptions(session).map(({ id }) => id);
  throw invalidParams("configId", `there is no option ${listed(option, known)}`);
}

export function changeMode(session: Settings, mode: string, path: string): void {
  if (!isMode(mode)) {
    const known = MODES.map(({ id }) => id);
    throw invalidParams(path, `there is no mode ${listed(mode, known)}`);
  }
  session.mode = mode;
}

async function changeModel(session: Settings, { options }: ModelChoice, id: string): Promise<void> {
  const known = options.map((option) => option.id);
  if (!known.includes(id)) throw invalidParams("value", `there is no model ${listed(id, known)}`);
  try {
    await session.chooseModel(id);
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    throw invalidParams("value", `${id} cannot be used: ${withHint(error)}`);
  }
}

function modelOption({ current, options }: ModelChoice): SessionConfigOption {
  return {
    id: MODEL_OPTION,
    name: "Model",
    category: "model",
    type: "select",
    currentValue: current,
    options: options.map(({ id, name }) => ({ value: id, name })),
  };
}

function listed(value: string, known: readonly string[]): string {
  const expected = known.length === 1 ? known[0] : `one of ${known.join(", ")}`;
  return `"${oneLine(value, LONGEST_VALUE)}"; expected ${expected}`;
}
