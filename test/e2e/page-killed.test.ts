// The page of a real gateway in a real browser, as somebody uses it who has read nothing; and what it says when the gateway
// is killed under it.

import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { describeInBrowser, newContext } from "../support/browser.ts";
import { eventually, processesWith } from "../support/processes.ts";
import { plugboard, useAgents } from "./acp-agent.ts";
import { useCommands } from "./commands.ts";

const BUNDLE = fileURLToPath(new URL("../fixtures/bundles/hello.mcpb", import.meta.url));

describeInBrowser("the page of a gateway that was started by hand", (browser) => {
  const desk = useAgents();
  const commands = useCommands(desk);

  interface Gateway {
    port: string;
    kill: () => Promise<void>;
    /** With its servers. */
    stop: () => Promise<void>;
  }

  async function up(port = "0"): Promise<Gateway> {
    const gateway = commands.run("up", "--port", port);
    await gateway.said("listens on");
    const [, found = ""] = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.stderr) ?? [];
    const stop = async (): Promise<void> => {
      gateway.process.kill("SIGTERM");
      await gateway.exited;
    };
    return { kill: () => gateway.kill(), stop, port: found };
  }

  async function open(of: Browser): Promise<Page> {
    const printed = commands.run("ui", "--print");
    expect(await printed.exited).toBe(0);
    const context = await newContext(of);
    const page = await context.newPage();
    await page.goto(printed.stdout.trim());
    await expect.poll(() => page.getByRole("status").first().textContent()).toBe("serving");
    return page;
  }

  const press = async (what: Locator): Promise<void> => {
    await what.focus();
    await what.press("Enter");
  };
  const type = async (into: Locator, text: string): Promise<void> => {
    await into.focus();
    await into.press("ControlOrMeta+A");
    await into.pressSequentially(text);
  };

  it("adds a server by keyboard, sees it fail, mends it, calls it, approves a call and connects a client", async () => {
    commands.configure({ mcpServers: {} });
    mkdirSync(join(desk.directory, ".cursor"));
    const cursor = join(desk.directory, ".cursor", "mcp.json");
    writeFileSync(cursor, "{}\n");
    const gateway = await up();
    const page = await open(browser());
    const main = page.getByRole("main");
    const entry = JSON.stringify(desk.configured("echo"));
    await press(main.getByRole("link", { name: "Add a server" }));
    await type(
      page.getByLabel("The command that starts it"),
      `'${process.execPath}' /no/such/file.mjs`,
    );
    await page.keyboard.press("Enter");
    await type(page.getByLabel("Its name here"), "echo");
    await press(page.getByRole("button", { name: "Add…" }));
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.textContent()).toContain("/no/such/file.mjs");
    await press(dialog.getByRole("button", { name: "Try it and add it" }));
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("echo was not added");

    await page.getByLabel("What is written").fill(entry);
    await press(page.getByRole("button", { name: "Add…" }));
    await press(dialog.getByRole("button", { name: "Try it and add it" }));
    await press(page.getByRole("link", { name: "Look at it" }));
    await press(page.getByRole("link", { name: "add", exact: true }));
    await type(page.getByRole("spinbutton", { name: "a" }), "2");
    await type(page.getByRole("spinbutton", { name: "b" }), "40");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByLabel("Structured content").textContent()).toContain("42");

    await press(page.getByRole("button", { name: "Ask each time: echo/add" }));
    await press(dialog.getByRole("button", { name: "Ask each time" }));
    await expect.poll(() => main.textContent()).toContain("needs approval");
    const shell = commands.run("call", "echo/add", "a=1", "b=2");
    await press(page.getByRole("link", { name: "Approvals" }));
    const article = page.getByRole("article", { name: "echo/add" });
    await expect.poll(() => article.textContent()).toContain(`call-${shell.process.pid}`);
    await press(article.getByRole("button", { name: "Allow once: echo/add" }));
    expect(await shell.exited).toBe(0);
    expect(shell.stdout).toContain("3");
    expect(shell.stderr).toContain("waits for your answer in the gateway's page");

    await press(page.getByRole("link", { name: "Clients" }));
    await press(page.getByRole("button", { name: "Connect Cursor" }));
    await press(dialog.getByRole("button", { name: "Connect it" }));
    await page.getByRole("button", { name: "Take out of Cursor" }).waitFor();
    expect(readFileSync(cursor, "utf8")).toContain("plugboard");

    // With nobody at the page, a command without a terminal is refused at once, as ever.
    await page.close();
    const alone = commands.run("call", "echo/add", "a=1", "b=2");
    expect(await alone.exited).toBe(4);
    expect(alone.stderr).toContain("no terminal to ask you on");
    await gateway.stop();
  });

  it("takes a bundle from the browser, and says so when what was sent is none", async () => {
    commands.configure({
      agents: { defaults: { mcp: { servers: {} } }, list: [{ id: "coder" }] },
    });
    const gateway = await up();
    const page = await open(browser());
    await press(page.getByRole("link", { name: "Add a server" }).first());
    await press(page.getByRole("button", { name: "Bundle" }));
    const file = page.getByLabel("Or choose a file");
    await file.setInputFiles({ name: "photo.mcpb", mimeType: "", buffer: Buffer.from("no zip") });
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("photo.mcpb");
    await file.setInputFiles(BUNDLE);
    const offer = page.getByRole("article", { name: "hello-bundle" });
    await offer.getByLabel("The agent that gets it").selectOption("coder");
    await offer.getByLabel("api_key").fill("hunter2-hunter2");
    await press(offer.getByRole("button", { name: "Add…" }));
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.textContent()).toContain("coder/hello-bundle");
    await press(dialog.getByRole("button", { name: "Try it and add it" }));
    await page.getByText("It is written.").waitFor();
    expect(readFileSync(join(desk.directory, "config.json"), "utf8")).toContain('"hello.mcpb"');
    await gateway.stop();
  });

  it("says when its gateway is killed, goes on with the next one, and asks to sign in to another", async () => {
    commands.configure({ mcpServers: { echo: desk.configured("echo") } });
    const gateway = await up();
    const page = await open(browser());
    const state = page.getByRole("status").first();
    const pid = page.locator("dt", { hasText: "Process" }).locator("+ dd");
    await press(page.getByRole("main").getByRole("link", { name: "echo", exact: true }));
    await expect.poll(() => pid.textContent()).toMatch(/\d/);
    const before = await pid.textContent();
    await gateway.kill();
    await expect.poll(() => state.textContent()).toContain("does not answer");
    expect(await pid.textContent()).toBe(before);
    const next = await up(gateway.port);
    await expect.poll(() => state.textContent()).toBe("serving");
    await expect.poll(() => pid.textContent()).not.toBe(before);

    await next.kill();
    writeFileSync(join(desk.directory, "other.json"), '{ "mcpServers": {} }');
    const words = ["--config", "other.json", "up", "--port", gateway.port];
    const other = plugboard(desk.directory, words);
    onTestFinished(async () => {
      other.kill();
      await once(other, "exit");
    });
    await expect.poll(() => page.getByRole("main").textContent()).toContain("plugboard ui");
    // A server notices that its gateway is gone, and ends.
    await eventually(() => processesWith(desk.marker).length === 0);
  });
});
