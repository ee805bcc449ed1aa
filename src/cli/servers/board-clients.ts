// Who uses the board of a running gateway now: whoever takes something away from it asks first.

import type { FileSource } from "../../core/config/find.ts";
import { inWords } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { runningGateway } from "../attach/find-channel.ts";
import type { CliContext } from "../context.ts";
import { readStatus } from "../status/running-gateway.ts";

/** More of them are counted. */
const MOST_NAMED = 3;

/** In words, each once. Empty if no gateway runs with the file, or it does not answer. */
export async function boardClients(source: FileSource, context: CliContext): Promise<string[]> {
  try {
    const gateway = await runningGateway(source, context);
    if (gateway === undefined) return [];
    const { clients, attached } = await readStatus(gateway, context);
    const names = [
      // The one that asked last comes first, so those that are present do.
      ...clients.list.slice(0, clients.present).map(({ client, caller }) => client.name ?? caller),
      ...attached.list.map(({ command, pid }) => `plugboard ${command} (pid ${pid})`),
    ];
    return [...new Set(names.map((name) => visible(name)))];
  } catch {
    return [];
  }
}

/** `Claude Code, Cursor and 2 more` */
export function clientNames(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return inWords(rest > 0 ? [...names.slice(0, MOST_NAMED), `${rest} more`] : names);
}
