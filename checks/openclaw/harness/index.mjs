// What OpenClaw's own plugin @openclaw/acpx does in substance: it registers acpx's runtime as the backend for ACP
// agents. That plugin is not on npm, the runtime is.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from "acpx/runtime";
import { registerAcpRuntimeBackend } from "openclaw/plugin-sdk/acp-runtime-backend";

export default {
  id: "acpx",
  name: "acpx backend of the checks",
  description: "Lets OpenClaw drive ACP agents through acpx's runtime.",
  register(api) {
    const { agents, stateDir } = api.pluginConfig;
    const runtime = createAcpRuntime({
      cwd: stateDir,
      sessionStore: createFileSessionStore({ stateDir }),
      agentRegistry: createAgentRegistry({ overrides: agents }),
      permissionMode: "approve-all",
      nonInteractivePermissions: "deny",
    });
    // OpenClaw's log does not say that it closes a session, nor why.
    for (const name of ["close", "prepareFreshSession"]) {
      const method = runtime[name].bind(runtime);
      runtime[name] = (input) => {
        const { handle, sessionKey = handle?.sessionKey, reason = name } = input;
        appendFileSync(
          join(stateDir, "closed.jsonl"),
          `${JSON.stringify({ sessionKey, reason })}\n`,
        );
        return method(input);
      };
    }
    registerAcpRuntimeBackend({ id: "acpx", runtime, healthy: () => true });
  },
};
