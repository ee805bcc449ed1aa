// `plugboard connect` without an application: which of them are on this machine, and which have the board.

import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { renderTable, type Row } from "../terminal/table.ts";
import { CONNECTED } from "../../install/applications/applications.ts";
import {
  type ConnectState,
  findApplication,
  type FoundApplication,
} from "../../install/applications/found.ts";

export async function listApplications({ io, screen, options }: CliContext): Promise<number> {
  const found = await Promise.all(CONNECTED.map((application) => findApplication(application, io)));
  if (options.json) {
    screen.json(found.map(toJson));
    return EXIT.ok;
  }
  const { paint, width } = screen.terminal.out;
  const here = found.filter(({ isInstalled, state }) => isInstalled || state.kind === "connected");
  const others = found.filter((each) => !here.includes(each));
  const rows = here.map(({ application, path, state }): Row => ({
    cells: [application.id, stateCell(state), { text: path, tone: "dim" }],
    ...(state.kind === "connected" &&
      state.missing !== undefined && {
        notes: [
          `${visible(state.missing)} is gone; to connect it again:`,
          `  ${offeredCommand(`connect ${application.id}`, options)}`,
        ],
      }),
    ...(state.kind === "unknown" && { notes: [oneLine(state.problem, 300)] }),
  }));
  screen.lines([
    ...renderTable([{}, {}, { min: 20 }], rows, { width, paint }),
    ...(rows.length === 0 ? ["None of the applications that Plugboard knows is here."] : [""]),
    ...(others.length === 0
      ? []
      : [paint("dim", `not here: ${others.map(({ application }) => application.id).join(", ")}`)]),
    ...(here.some(({ state }) => state.kind === "absent")
      ? [
          "To put your servers into one of them:",
          `  ${offeredCommand("connect <application>", options)}`,
        ]
      : []),
  ]);
  return EXIT.ok;
}

function stateCell(state: ConnectState): Row["cells"][number] {
  switch (state.kind) {
    case "absent":
      return { text: "not connected", tone: "dim" };
    case "unknown":
      return { text: "cannot be read", tone: "yellow" };
    case "connected":
      return state.missing === undefined
        ? { text: `connected as ${state.as.join(" and ")}`, tone: "green" }
        : { text: "connected, but broken", tone: "red" };
  }
}

function toJson({ application, path, isInstalled, state }: FoundApplication): object {
  const { kind, ...rest } = state;
  return { application: application.id, file: path, installed: isInstalled, state: kind, ...rest };
}
