// The agents: how each is started, and how it is told to ask the scripted model in place of its provider's.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TSAGENT = fileURLToPath(new URL("../../../examples/tsagent/", import.meta.url));
export const MODULES = fileURLToPath(new URL("../node_modules/", import.meta.url));
const NODE = `${MODULES}node24/bin/node`;

/**
 * `command` speaks ACP; `words` are options of the front. `files({ work })` are what the agent needs to start at all. `env({ home, work,
 * url })` are the variables for a model at `url`, and writes the files that are needed beside them. `refuses` is the request that fails
 * without an account; OpenCode has models that need none, so it has no such request.
 */
export const AGENTS = [
  {
    name: "Claude Agent",
    package: "@agentclientprotocol/claude-agent-acp",
    command: [NODE, `${MODULES}@agentclientprotocol/claude-agent-acp/dist/index.js`],
    refuses: "session/prompt",
    env: ({ url }) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "k" }),
  },
  {
    name: "Codex",
    package: "@agentclientprotocol/codex-acp",
    command: [NODE, `${MODULES}@agentclientprotocol/codex-acp/dist/index.js`],
    refuses: "session/new",
    env({ home, url }) {
      write(
        join(home, ".codex", "config.toml"),
        `model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"

[analytics]
enabled = false
`,
      );
      // By default another model decides about calls. In this mode, the client is asked.
      return { INITIAL_AGENT_MODE: "workspace-write" };
    },
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    command: [NODE, `${MODULES}@google/gemini-cli/bundle/gemini.js`, "--experimental-acp"],
    refuses: "session/new",
    env({ home, work, url }) {
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true },
      };
      write(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
      // It starts no server in a folder that its user has not trusted.
      const trusted = JSON.stringify({ [work]: "TRUST_FOLDER" });
      write(join(home, ".gemini", "trustedFolders.json"), trusted);
      return { GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: url, GEMINI_MODEL: "gemini-2.5-pro" };
    },
  },
  {
    name: "OpenCode",
    package: "opencode-ai",
    command: [`${MODULES}opencode-ai/bin/opencode.exe`, "acp"],
    refuses: undefined,
    env({ url }) {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "scripted",
        options: { baseURL: `${url}/v1`, apiKey: "k" },
        models: { m: { name: "m" } },
      };
      const config = {
        share: "disabled",
        autoupdate: false,
        model: "scripted/m",
        small_model: "scripted/m",
        enabled_providers: ["scripted"],
        provider: { scripted: provider },
      };
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify(config) };
    },
  },
  {
    // Its own ACP server is not on npm, so this is its core in the one of the example.
    name: "tsagent",
    package: "@tsagent/core",
    modules: `${TSAGENT}node_modules/`,
    command: [process.execPath, `${TSAGENT}acp-server.mjs`, "my-agent.yaml"],
    words: ["--agent-config", "tsagent"],
    files: ({ work }) => ({
      [join(work, "my-agent.yaml")]: `# Mine
metadata:
  name: My agent
  created: 2026-01-01T00:00:00.000Z
  lastAccessed: 2026-01-01T00:00:00.000Z
settings:
  model: openai:scripted
systemPrompt: |
  You are kind.
providers:
  openai:
    OPENAI_API_KEY: k
`,
    }),
    refuses: undefined,
    env: ({ url }) => ({ OPENAI_BASE_URL: `${url}/v1` }),
  },
];

/** Nothing may leave the machine, whatever an agent would like to fetch or report. */
const NOWHERE = "http://127.0.0.1:9";
export const ISOLATED = {
  HTTP_PROXY: NOWHERE,
  HTTPS_PROXY: NOWHERE,
  NO_PROXY: "127.0.0.1,localhost",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
};

/** Of the Node that the agents run on. Codex and Claude look for it on the PATH. */
export const NODE_DIRECTORY = `${MODULES}node24/bin`;

export function versions() {
  const agents = AGENTS.filter(({ modules }) => modules === undefined).map(
    (agent) => `${agent.name} ${versionOf(agent.package)}`,
  );
  const tsagent = versionOf("@tsagent/core", `${TSAGENT}node_modules/`);
  return `${agents.join(", ")} on Node ${versionOf("node24")}, tsagent ${tsagent} on Node ${process.versions.node}`;
}

export function versionOf(name, modules = MODULES) {
  return JSON.parse(readFileSync(`${modules}${name}/package.json`, "utf8")).version;
}

export function write(path, text) {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
}
