// Makes the pictures of the page in docs/: `npm run docs:pictures`, after a build, where Chromium is installed. A real gateway
// runs with an empty home and the servers of node_modules; calls are made, one of them waits for approval, and the page
// is photographed.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = join(root, "dist/bin.cjs");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const MOST_BYTES = 80 * 1024;
/** What the home is called in the pictures. */
const HOME = "/home/ada";

const home = mkdtempSync(join(tmpdir(), "plugboard-pictures-"));
const env = {
  HOME: home,
  PLUGBOARD_HOME: join(home, ".plugboard"),
  // Its `npx` takes packages from node_modules, so that nothing is downloaded.
  PATH: [join(root, "test/support/bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(
    delimiter,
  ),
};
const options = { env, cwd: home, encoding: "utf8" };
const plugboard = (...argv) => execFileSync(process.execPath, [bin, ...argv], options);

/** Resolves to the address of the gateway. */
async function started(gateway) {
  let text = "";
  for await (const chunk of gateway.stderr) {
    text += chunk;
    const url = /listens on (http:\/\/\S+\/mcp)/.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`the gateway did not start: ${text}`);
}

/** What a client over HTTP sends. */
async function call(url, token, name, args) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    }),
  });
  return response.text();
}

async function photograph(page, name) {
  await page.evaluate(
    ([from, to]) => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode;
        if (node.data.includes(from)) node.data = node.data.replaceAll(from, to);
      }
    },
    [home, HOME],
  );
  const path = join(root, "docs", `page-${name}.png`);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes, and may have ${MOST_BYTES}`);
  console.log(`${path}: ${Math.round(size / 1024)} KB`);
}

async function run() {
  const notes = join(home, "notes");
  mkdirSync(notes);
  mkdirSync(env.PLUGBOARD_HOME, { mode: 0o700 });
  const todo =
    "# This week\n\n- [ ] water the plants\n- [ ] answer Grace\n- [x] plug in the agent\n";
  writeFileSync(join(notes, "todo.md"), todo);
  const npx = (name, ...args) => ({
    command: "npx",
    args: ["-y", `@modelcontextprotocol/server-${name}`, ...args],
  });
  const mcpServers = {
    notes: {
      ...npx("filesystem", notes),
      approval: { tools: { edit_file: "ask", write_file: "ask" } },
    },
    examples: npx("everything"),
    issues: { url: "http://127.0.0.1:9/mcp" },
  };
  writeFileSync(
    join(env.PLUGBOARD_HOME, "plugboard.json"),
    JSON.stringify({ mcpServers }, null, 2),
    {
      mode: 0o600,
    },
  );
  const gateway = spawn(process.execPath, [bin, "up", "--port", "0"], { env, cwd: home });
  const ended = new Promise((resolve) => gateway.once("exit", resolve));
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  try {
    const url = await started(gateway);
    gateway.stderr.resume();
    const page = await browser.newPage({
      viewport: { width: 900, height: 640 },
      reducedMotion: "reduce",
    });
    page.setDefaultTimeout(60_000);
    await page.goto(plugboard("ui", "--print").trim());
    const link = (name) => page.getByRole("navigation").getByRole("link", { name });
    await link("Servers").click();
    await page.getByRole("row").filter({ hasText: "notes" }).getByText("ready").waitFor();
    await page.getByRole("row").filter({ hasText: "examples" }).getByText("ready").waitFor();
    const made = plugboard("tokens", "add", "claude-code", "--json");
    const { token } = JSON.parse(made);
    const path = join(notes, "todo.md");
    for (const a of [3, 4, 5]) await call(url, token, "examples__get-sum", { a, b: 2 });
    await call(url, token, "notes__list_directory", { path: notes });
    await call(url, token, "notes__read_text_file", { path: join(notes, "done.md") });
    await call(url, token, "notes__read_text_file", { path });
    await link("Activity").click();
    await page.getByRole("link", { name: "notes/read_text_file" }).first().click();
    await page.getByRole("heading", { name: "Through the guard" }).waitFor();
    await photograph(page, "call");
    const edits = [{ oldText: "- [ ] answer Grace", newText: "- [x] answer Grace" }];
    const waiting = call(url, token, "notes__edit_file", { path, edits });
    await link("Approvals").click();
    await page.getByRole("button", { name: /Allow .*once|once/i }).waitFor();
    await photograph(page, "approval");
    await link("Overview").click();
    await page.getByRole("link", { name: "examples" }).first().waitFor();
    await photograph(page, "overview");
    await link("Approvals").click();
    await page.getByRole("button", { name: /Allow .*once|once/i }).click();
    await waiting;
  } finally {
    await browser.close();
    gateway.kill("SIGTERM");
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

await run();
