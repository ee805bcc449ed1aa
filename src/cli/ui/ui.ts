// `plugboard ui`: a link to the page of the running gateway, opened in the browser.

import { PlugboardError } from "../../core/types/errors.ts";
import { ask } from "../../serve/attach/wire.ts";
import { visible } from "../../util/visible.ts";
import { runningGateway, withLink } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findSource } from "../find-source.ts";
import { offeredCommand } from "../offered-command.ts";
import { openBrowser } from "../terminal/browser.ts";
import type { UiRequest } from "./command.ts";

export async function runUi({ print, viewer }: UiRequest, context: CliContext): Promise<number> {
  const { screen, options, io, commandName } = context;
  const source = findSource(context);
  const gateway = await runningGateway(source, context);
  if (gateway === undefined) {
    const which = source.kind === "file" ? ` for ${visible(source.path)}` : "";
    throw new PlugboardError("SERVER_UNAVAILABLE", `no gateway is running${which}`, {
      hint: `to start one: ${offeredCommand("up -d", options)}`,
    });
  }
  const url = await withLink(gateway, commandName, context, (link) =>
    ask(link, "gateway/page", [viewer ? "viewer" : "owner"]),
  );
  if (options.json) screen.json({ url });
  else if (print === true) screen.lines([url]);
  else if (await openBrowser(url, io.env)) screen.lines(["The page is open in your browser."]);
  else
    screen.lines(["No browser was found. Within a minute, open this link, which works once:", url]);
  return EXIT.ok;
}
