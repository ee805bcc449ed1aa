// The OpenClaw plugin of Plugboard. The manifest brings the board in as the MCP server `plugboard`; this registers what
// only code can do: framing, resources in the prompt, and status.

import { BoardClient } from "./board-client.ts";
import { resultFramer } from "./frame-result.ts";
import type { OpenClawConfig, PluginApi } from "./openclaw.ts";
import { HOOK_MS, promptContext } from "./prompt-context.ts";
import { readConnection, readSettings } from "./settings.ts";
import { type PluginStatus, readStatus, statusText } from "./status.ts";

const DESCRIPTION =
  "Show the servers that Plugboard brings in, and what to do about those that are down";

export default {
  id: "plugboard",
  name: "Plugboard",
  description:
    "Brings the MCP servers of your Plugboard in as one server, frames what other MCP servers say, and puts resources into the prompt.",
  register,
};

/** Starts nothing: OpenClaw also calls this to see what a plugin has. */
function register(api: PluginApi): void {
  const settings = readSettings(api.pluginConfig);
  const current = (): OpenClawConfig => api.runtime?.config?.current?.() ?? api.config;
  const board = new BoardClient({ connection: () => readConnection(current(), api.rootDir) });

  if (settings.frameOtherServers) {
    api.registerAgentToolResultMiddleware(resultFramer(settings), {
      runtimes: ["openclaw", "codex"],
    });
  }
  if (settings.resources) {
    const { maxResourceBytes } = settings;
    const warn = (message: string): void => api.logger.warn(`plugboard: ${message}`);
    const addResources = promptContext({ board, config: current, maxResourceBytes, warn });
    api.on("before_prompt_build", addResources, { timeoutMs: HOOK_MS });
  }

  let readers = 0;
  const status = async (config: OpenClawConfig): Promise<PluginStatus> => {
    const connection = readConnection(config, api.rootDir);
    readers += 1;
    const found = await readStatus({ board, connection, config, settings });
    readers -= 1;
    // Prompts go on using the board; somebody who looked at it does not.
    if (readers === 0 && !settings.resources) await board.close();
    return found;
  };
  api.registerGatewayMethod(
    "plugboard.status",
    async (request) => request.respond(true, await status(current())),
    { scope: "operator.read", profileAccess: "independent" },
  );
  api.registerCommand({
    name: "plugboard",
    description: DESCRIPTION,
    requireAuth: true,
    handler: async () => ({ text: statusText(await status(current())) }),
  });
  api.registerCli(
    ({ program, config }) => {
      program
        .command("plugboard")
        .description(DESCRIPTION)
        .command("status")
        .description(DESCRIPTION)
        .option("--json", "print JSON")
        .action(async ({ json }) => {
          const found = await status(config);
          await board.close();
          process.stdout.write(
            `${json === true ? JSON.stringify(found, null, 2) : statusText(found)}\n`,
          );
          if (found.problem !== undefined) process.exitCode = 1;
        });
    },
    { descriptors: [{ name: "plugboard", description: DESCRIPTION, hasSubcommands: true }] },
  );
  api.registerService({ id: "plugboard", start: () => {}, stop: () => board.close() });
}
