// A gateway in front of three servers, and two clients that share them. Run it after `npm ci`:
//   node examples/gateway.mjs
// Claude Code, Cursor and every other MCP client connects with the same URL and a token: docs/clients.md.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

// In your own project: npx plugboard
const plugboard = fileURLToPath(new URL("../dist/bin.cjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "plugboard-gateway-"));
const env = { ...process.env, PLUGBOARD_HOME: home };

const official = (name, ...args) => ({
  command: "npx",
  args: ["-y", `@modelcontextprotocol/server-${name}`, ...args],
});
const mcpServers = {
  files: official("filesystem", "."),
  memory: { ...official("memory"), env: { MEMORY_FILE_PATH: join(home, "memory.json") } },
  everything: official("everything"),
};
await writeFile(join(home, "plugboard.json"), JSON.stringify({ mcpServers }));

// `plugboard up` makes a token with its first start. Port 0 is any free one.
const gateway = spawn(process.execPath, [plugboard, "up", "--port", "0"], {
  env,
  stdio: ["ignore", "ignore", "pipe"],
});
const url = await new Promise((resolve, reject) => {
  let said = "";
  gateway.stderr.on("data", (chunk) => {
    said += chunk;
    const [found] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
    if (found !== undefined) resolve(found);
  });
  gateway.once("exit", () => reject(new Error(said)));
});

async function connect(name, token) {
  const client = new Client({ name, version: "1.0.0" });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

try {
  // A token for somebody else, who may only read.
  const run = promisify(execFile);
  const { stdout } = await run(
    process.execPath,
    [plugboard, "tokens", "add", "anna", "--allow", "memory/read_*", "--json"],
    { env },
  );
  const own = await connect("own", (await readFile(join(home, "gateway", "token"), "utf8")).trim());
  const anna = await connect("anna", JSON.parse(stdout).token);

  console.log(
    `one server with ${(await own.listTools()).tools.length} tools, for anna ${(await anna.listTools()).tools.length}`,
  );
  const entities = [{ name: "Plugboard", entityType: "program", observations: ["has a gateway"] }];
  await own.callTool({ name: "memory__create_entities", arguments: { entities } });
  const { content } = await anna.callTool({ name: "memory__read_graph", arguments: {} });
  console.log(`anna reads: ${JSON.parse(content[0].text).entities[0].observations[0]}`);

  await own.close();
  await anna.close();
} finally {
  gateway.kill();
  await once(gateway, "exit");
  await rm(home, { recursive: true });
}
