// `plugboard get`: how one server is configured, and where. Nothing starts.

import { withoutCredentials } from "../../core/board/without-credentials.ts";
import { positionOf } from "../../core/config/server-text.ts";
import { isJsonObject } from "../../core/types/json.ts";
import { escapedJsonLines, visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { GetRequest } from "./command.ts";
import { commandFor, findServer } from "./server-file.ts";

export async function runGet({ name, scope }: GetRequest, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { file, server: written } = await findServer(name, scope, context);
  const server = withoutCredentials(written);
  const { line, column } = positionOf(file, name);
  const isEnabled = written["enabled"] !== false && written["disabled"] !== true;
  if (options.json) {
    screen.json({ name, file: file.path, line, column, enabled: isEnabled, server });
    return EXIT.ok;
  }
  const { paint } = screen.terminal.out;
  screen.lines([
    `${paint("bold", visible(name))}${isEnabled ? "" : paint("yellow", "  disabled")}`,
    paint("dim", `${visible(file.path)}:${line}:${column}`),
    "",
    ...(isJsonObject(server) ? escapedJsonLines(server).split("\n") : []),
    "",
    paint("dim", `its state: ${commandFor("status", name, context)}`),
  ]);
  return EXIT.ok;
}
