// `npm run e2e:apps`: official example servers of MCP Apps, directly and behind `plugboard serve`. Fails where the two
// differ in more than the names that the gateway gives.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { isInstalled, npm } from "../lib/own-packages.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const INSTALL = ["install", "--no-save", "--no-audit", "--no-fund"];
const APPS = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};

/** A name, its package, and calls that have the same answer every time. */
const SERVERS = [
  { name: "basic", package: "basic-vanillajs", calls: [["get-time", {}]] },
  { name: "budget", package: "budget-allocator", calls: [["get-budget-data", {}]] },
  {
    name: "debug",
    package: "debug",
    calls: [["debug-tool", { contentType: "mixed", multipleBlocks: true }]],
    appCalls: [["debug-refresh", {}]],
  },
  { name: "map", package: "map", calls: [["show-map", { label: "x" }]] },
];

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`apps: ${error.stack}\n`);
  process.exitCode = 2;
}

async function main() {
  const who = "apps";
  if (!isInstalled(HERE)) npm({ who, what: "installing the servers", cwd: HERE }, INSTALL);
  if (!process.argv.includes("--no-build")) {
    npm({ who, what: "building the project", cwd: ROOT }, ["run", "build"]);
  }
  const home = mkdtempSync(join(tmpdir(), "plugboard-apps-"));
  const problems = [];
  let count = 0;
  const compare = (what, direct, through) => {
    count += 1;
    if (!isDeepStrictEqual(direct, through)) problems.push({ what, direct, through });
  };
  const file = join(home, "plugboard.json");
  const servers = Object.fromEntries(
    SERVERS.map((each) => [each.name, { command: process.execPath, args: argsOf(each) }]),
  );
  writeFileSync(file, JSON.stringify({ agents: { defaults: { mcp: { servers } } } }));
  const serve = [join(ROOT, "dist/bin.cjs"), "--config", file, "serve"];
  const env = { ...process.env, PLUGBOARD_HOME: home };
  const gateway = await connect(serve, APPS, env);
  const plain = await connect(serve, {}, env);
  try {
    for (const server of SERVERS) await compareServer(server, { gateway, plain, compare });
  } finally {
    await Promise.all([gateway.end(), plain.end()]);
    rmSync(home, { recursive: true, force: true });
  }
  for (const { what, direct, through } of problems) {
    process.stdout.write(`${what}: DIFFERS\n- ${short(direct)}\n+ ${short(through)}\n`);
  }
  process.stdout.write(`${count - problems.length} of ${count} are the same\n`);
  return problems.length === 0 ? 0 : 1;
}

async function compareServer(server, { gateway, plain, compare }) {
  const { name, calls, appCalls = [] } = server;
  const direct = await connect(argsOf(server), APPS, process.env);
  const undo = undoFor(name);
  try {
    const mine = await direct.ask("tools/list");
    const theirs = await gateway.ask("tools/list");
    const own = (tools) => tools.filter((tool) => tool.name.startsWith(`${name}__`)).map(undo.tool);
    compare(`${name}: tools/list`, mine.tools, own(theirs.tools));
    compare(
      `${name}: tools/list for a client without apps`,
      mine.tools.filter(({ _meta }) => _meta?.ui?.visibility?.includes("model") ?? true),
      own((await plain.ask("tools/list")).tools),
    );
    const { resources } = await direct.ask("resources/list");
    const served = (await gateway.ask("resources/list")).resources;
    compare(
      `${name}: resources/list`,
      resources,
      served.filter(({ uri }) => uri.startsWith(`ui://${name}/`)).map(undo.uri),
    );
    for (const { uri } of resources) {
      const through = await gateway.ask("resources/read", {
        uri: served.find((each) => undo.uri(each).uri === uri)?.uri,
      });
      const contents = through.contents.map(undo.uri);
      compare(`${name}: resources/read ${uri}`, await direct.ask("resources/read", { uri }), {
        ...through,
        contents,
      });
    }
    for (const [tool, args] of [...calls, ...appCalls]) {
      compare(
        `${name}: tools/call ${tool}`,
        timeless(await direct.ask("tools/call", { name: tool, arguments: args })),
        timeless(await gateway.ask("tools/call", { name: `${name}__${tool}`, arguments: args })),
      );
    }
    for (const [tool, args] of appCalls) {
      const refused = await plain
        .ask("tools/call", { name: `${name}__${tool}`, arguments: args })
        .catch(({ code }) => code);
      compare(`${name}: ${tool} is refused to a client without apps`, -32602, refused);
    }
  } finally {
    await direct.end();
  }
}

function undoFor(name) {
  const own = (uri) => uri.replace(`ui://${name}/`, "ui://");
  return {
    uri: (item) => ({ ...item, uri: own(item.uri) }),
    tool: ({ _meta, ...tool }) => {
      const { ui, "ui/resourceUri": flat } = _meta ?? {};
      return {
        ...tool,
        name: tool.name.slice(name.length + 2),
        description: tool.description.replace(`[${name}] `, ""),
        ...(_meta && {
          _meta: {
            ..._meta,
            ...(ui && {
              ui: { ...ui, ...(ui.resourceUri && { resourceUri: own(ui.resourceUri) }) },
            }),
            ...(flat && { "ui/resourceUri": own(flat) }),
          },
        }),
      };
    },
  };
}

/** Times and ids differ from one call to the next. */
function timeless(result) {
  return JSON.parse(
    JSON.stringify(result)
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/\b1\d{12}\b/g, "0")
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>"),
  );
}

function argsOf({ package: name }) {
  return [join(HERE, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), "--stdio"];
}

function short(value) {
  return JSON.stringify(value)?.slice(0, 2000);
}

/** An MCP client on the pipes of a program. */
async function connect(args, capabilities, env) {
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let last = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, method, result, error } = JSON.parse(line);
    if (method !== undefined) return;
    const { resolve, reject } = waiting.get(id) ?? {};
    if (error === undefined) resolve?.(result);
    else reject?.(Object.assign(new Error(error.message), error));
  });
  const over = new Promise((resolve) => child.once("close", resolve));
  void over.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${args.join(" ")} has ended`));
  });
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method, params = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      send({ id: last, method, params });
    });
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities,
    clientInfo: { name: "plugboard-apps", version: "1.0.0" },
  });
  send({ method: "notifications/initialized" });
  return {
    ask,
    end() {
      child.stdin.end();
      setTimeout(() => child.kill(), 5000).unref();
      return over;
    },
  };
}
