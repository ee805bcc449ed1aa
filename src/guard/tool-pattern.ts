// What a pattern in a rule means: which tools it names, and whether it names their server too.

import type { ToolSubject } from "../model/guard.ts";
import { compileGlob } from "../util/glob.ts";

export interface ToolPattern {
  /** As the operator wrote it. */
  text: string;
  matches(subject: ToolSubject): boolean;
  /** It is about the tools of whatever server: the only kind that can allow a server of a session. */
  isForAnyServer: boolean;
}

/** For rules of an agent: `server/tool`, `native/tool`, or without a slash a public name. */
export function agentPattern(text: string): ToolPattern {
  const slash = text.indexOf("/");
  if (slash === -1) {
    const matches = compileGlob(text);
    return {
      text,
      matches: ({ publicName }) => matches(publicName),
      isForAnyServer: /^\*+$/.test(text),
    };
  }
  // Apart, so that a tool cannot pass for one of another server's by a slash in its own name.
  const server = compileGlob(text.slice(0, slash));
  const tool = compileGlob(text.slice(slash + 1));
  return {
    text,
    matches: (subject) => server(serverPart(subject)) && tool(toolPart(subject)),
    isForAnyServer: /^\*+$/.test(text.slice(0, slash)),
  };
}

/** For rules of a server: the tool's own name, or any name that an agent's rule could have for it. */
export function serverPattern(text: string): ToolPattern {
  const own = compileGlob(text);
  const full = agentPattern(text);
  return {
    text,
    matches: (subject) => own(toolPart(subject)) || full.matches(subject),
    isForAnyServer: true,
  };
}

function serverPart({ source }: ToolSubject): string {
  return source.kind === "mcp" ? source.server : "native";
}

function toolPart({ source, canonical }: ToolSubject): string {
  return source.kind === "mcp" ? source.tool : canonical.slice("native/".length);
}
