// The servers' resources in the prompts of one conversation: how much room they get in the model's context window,
// and what the user is told of them.

import type { BoardResources, ResourceBlock } from "../../core/types/resource.ts";
import { byteSize, oneLine, plural } from "../../util/text.ts";
import type { AgentModel } from "./model.ts";

/** The share of the model's context window that resources may take. */
const SHARE = 0.1;
/** English has four, but other scripts take three bytes for a character, which is often a token of its own. */
const BYTES_PER_TOKEN = 3;

const LONGEST_NAME = 100;

interface ReadResources {
  /** For a turn: the block, and a shorter one for when room is short. */
  context: string[];
  /** News for the user about the resources in the block. Absent if the user has heard it all. */
  news?: string;
}

export class PromptResources {
  /** The servers whose resources the user was told of. */
  readonly #told = new Set<string>();

  async read(
    resources: Pick<BoardResources, "block">,
    { contextWindow }: Pick<AgentModel, "contextWindow">,
  ): Promise<ReadResources> {
    const maxBytes = Math.floor(contextWindow * SHARE * BYTES_PER_TOKEN);
    const block = await resources.block({ maxBytes });
    const context = block.shown.length === 0 ? [block.text] : [block.text, block.names];
    return { context, news: this.#newsOf(block) };
  }

  #newsOf({ shown, others }: ResourceBlock): string | undefined {
    const servers = [...new Set(shown.map(({ server }) => server))];
    if (servers.every((server) => this.#told.has(server))) return undefined;
    for (const server of servers) this.#told.add(server);
    const parts = servers.map((server) => {
      const own = shown.filter((each) => each.server === server);
      const bytes = own.reduce((sum, each) => sum + each.bytes, 0);
      const cut = own.filter(({ isCut }) => isCut).length;
      const beginnings = cut === 0 ? "" : `, ${cut} of them cut`;
      const name = oneLine(server, LONGEST_NAME);
      return `${plural(own.length, "resource")} of ${name} (${byteSize(bytes)}${beginnings})`;
    });
    const rest = others === 0 ? "" : `; ${plural(others, "other")} can be read by name`;
    return (
      `every request to the model has the text of ${parts.join(", ")}${rest}. ` +
      '"resources": "list" leaves the text of a server out, false hides it all'
    );
  }
}
