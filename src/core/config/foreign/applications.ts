// The applications whose files are read, in the order in which their content is looked at: what only one application
// writes comes first, what several share comes last.

import type { Application } from "./application.ts";
import { claudeCode, claudeDesktop } from "./claude.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { mcptools } from "./mcptools.ts";
import { openclaw } from "./openclaw.ts";
import { opencode } from "./opencode.ts";
import { tsagent } from "./tsagent.ts";
import { vscode } from "./vscode.ts";
import { windsurf } from "./windsurf.ts";
import { zed } from "./zed.ts";

export const APPLICATIONS: readonly Application[] = [
  // Known by the name of the block that has the servers.
  codex, // mcp_servers
  zed, // context_servers
  opencode, // mcp, with servers of the type local or remote
  vscode, // servers, with inputs or variables of VS Code
  openclaw, // mcp.servers, or agents beside what is not ours
  claudeCode, // projects with mcpServers
  // All of these have mcpServers, and are told apart by keys of their servers.
  tsagent,
  gemini,
  cline,
  windsurf,
  cursor,
  claudeDesktop, // whatever else has mcpServers
  mcptools, // whatever else has servers
];
