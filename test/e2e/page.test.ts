// The page of a real gateway in a real browser, as somebody uses it who has read nothing.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { describeInBrowser } from "../support/browser.ts";
import { useAgents } from "./acp-agent.ts";
import { useCommands } from "./commands.ts";
import { openPage, press, up } from "./page.ts";

const BUNDLE = fileURLToPath(new URL("../fixtures/bundles/hello.mcpb", import.meta.url));

describeInBrowser("the page of a gateway that was started by hand", (browser) => {
  const desk = useAgents();
  const commands = useCommands(desk);

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
    const gateway = await up(commands);
    const page = await openPage(commands, browser());
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
    const gateway = await up(commands);
    const page = await openPage(commands, browser());
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
});
