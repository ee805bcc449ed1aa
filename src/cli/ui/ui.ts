// `plugboard ui`: a link to the page of the running gateway, opened in the browser.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { plugboardHome } from "../../core/config/home.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { ask } from "../../serve/attach/command/ask.ts";
import { withLink } from "../attach/connect.ts";
import { noGatewayRuns, runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { offeredCommand } from "../offered-command.ts";
import { openFileInBrowser } from "../terminal/browser.ts";
import type { UiRequest } from "./command.ts";
import { writeLinkFile } from "./link-file.ts";

export async function runUi({ print, viewer }: UiRequest, context: CliContext): Promise<number> {
  const { screen, options, commandName } = context;
  const source = findSource(context);
  const gateway = await runningGateway(source, context);
  if (gateway === undefined) {
    throw new PlugboardError("SERVER_UNAVAILABLE", noGatewayRuns(source), {
      hint: `to start one: ${offeredCommand("up -d", options)}`,
    });
  }
  const url = await withLink(gateway, commandName, context, (link) =>
    ask(link, "gateway/page", [viewer ? "viewer" : "owner"]),
  );
  if (options.json) screen.json({ url });
  else if (print === true) screen.lines([url]);
  else if (await openLink(url, context)) screen.lines(["The page is open in your browser."]);
  else
    screen.lines(["No browser was found. Within a minute, open this link, which works once:", url]);
  return EXIT.ok;
}

/** Whether a browser was started. The key of the link is in no argument of it. */
async function openLink(url: string, { io, clock }: CliContext): Promise<boolean> {
  const directory = join(plugboardHome(io.env, io.homedir), "gateway");
  try {
    const path = await writeLinkFile(url, { directory, now: clock.now(), random: randomBytes });
    return await openFileInBrowser(path, io.env);
  } catch {
    return false;
  }
}
