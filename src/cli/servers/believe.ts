// Marks a server as `trusted` in its file, where a person says so when asked about a call: its labels are believed.

import { withTrusted } from "../../core/config/server-text.ts";
import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { changeServerFile, findServer } from "./server-file.ts";

export async function believeLabels(server: string, context: CliContext): Promise<void> {
  const { file } = await findServer(server, undefined, context);
  const change = { names: [server], what: `believe ${oneLine(server, 200)}` };
  await changeServerFile(file, (servers) => withTrusted(servers, server), change, context);
  context.screen.note(
    `${visible(server)} is "trusted" in ${visible(file.path)} now: what it says about its tools is believed`,
  );
}
