// Marks a server as `trusted` in its file, where a person says so when asked about a call: its labels are believed.

import { withTrusted } from "../../core/config/server-text.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { changeServerFile, findServer } from "./server-file.ts";

export async function believeLabels(server: string, context: CliContext): Promise<void> {
  const { file } = await findServer(server, undefined, context);
  const change = { names: [server], what: `believe ${oneLine(server, 200)}` };
  try {
    await changeServerFile(file, (servers) => withTrusted(servers, server), change, context);
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "CONFIG_INVALID") throw error;
    // The call that was asked about is approved all the same.
    context.screen.note(`${visible(server)} is not believed: ${error.message}`);
    return;
  }
  context.screen.note(
    `${visible(server)} is "trusted" in ${visible(file.path)} now: what it says about its tools is believed`,
  );
}
