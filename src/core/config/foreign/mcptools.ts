// MCPtools: `{ servers }`, with keys that we have as well. So our schema reads them as they are, and reports typos.

import { DEFAULT_SERVERS } from "../schema/file-schema.ts";
import type { Application } from "./application.ts";

export const mcptools: Application = {
  id: "mcptools",
  name: "MCPtools",
  // The file of MCPtools has no mark of its own: a file with this block that no other application recognises is taken
  // for it.
  recognise: () => false,
  block: "servers",
  keys: [],
  translate: ({ servers, $schema: _schema, ...others }, draft) => {
    draft.set(DEFAULT_SERVERS, servers, ["servers"]);
    draft.ignore(Object.keys(others), []);
  },
};
