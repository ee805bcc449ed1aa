// How each client is given the gateway: the command to run, or the entry for its file. docs/clients.md has the same.

export interface ClientEntry {
  client: string;
  /** Each to be copied as a whole. */
  lines: string[];
}

/** The entries hold the token: show them only to whoever made it. */
export function clientEntries(url: string, token: string): ClientEntry[] {
  const headers = { Authorization: `Bearer ${token}` };
  const file = (key: string, entry: object): string[] => [
    JSON.stringify({ [key]: { plugboard: entry } }),
  ];
  const added = (program: string): string[] => [
    `${program} mcp add --scope user --transport http plugboard ${url} --header "Authorization: Bearer ${token}"`,
  ];
  return [
    { client: "Claude Code", lines: added("claude") },
    { client: "Gemini CLI", lines: added("gemini") },
    {
      client: "Codex",
      lines: [
        `export PLUGBOARD_TOKEN=${token}`,
        `codex mcp add plugboard --url ${url} --bearer-token-env-var PLUGBOARD_TOKEN`,
      ],
    },
    { client: "Cursor, in ~/.cursor/mcp.json", lines: file("mcpServers", { url, headers }) },
    { client: "VS Code, in mcp.json", lines: file("servers", { type: "http", url, headers }) },
    { client: "Zed, in settings.json", lines: file("context_servers", { url, headers }) },
  ];
}
