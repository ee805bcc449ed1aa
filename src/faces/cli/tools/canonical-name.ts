// `server/tool`: what a person types, and what rules and files are named after. Native tools have no server.

import type { Tool } from "../../../model/tool.ts";

export function canonicalName({ name, source }: Tool): string {
  return source.kind === "mcp" ? `${source.server}/${source.tool}` : name;
}
