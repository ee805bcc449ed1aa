// What the page of a gateway says when that is killed under it.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeInBrowser } from "../support/browser.ts";
import { eventually, processesWith } from "../support/processes.ts";
import { plugboard, useAgents } from "./acp-agent.ts";
import { useCommands } from "./commands.ts";
import { openPage, press, up } from "./page.ts";

describeInBrowser("the page of a gateway that is killed", (browser) => {
  const desk = useAgents();
  const commands = useCommands(desk);

  it("says so, goes on with the next one, and asks to sign in to another", async () => {
    commands.configure({ mcpServers: { echo: desk.configured("echo") } });
    const gateway = await up(commands);
    const page = await openPage(commands, browser());
    const state = page.getByRole("status").first();
    const pid = page.locator("dt", { hasText: "Process" }).locator("+ dd");
    await press(page.getByRole("main").getByRole("link", { name: "echo", exact: true }));
    await expect.poll(() => pid.textContent()).toMatch(/\d/);
    const before = await pid.textContent();
    await gateway.kill();
    await expect.poll(() => state.textContent()).toContain("does not answer");
    expect(await pid.textContent()).toBe(before);
    const next = await up(commands, gateway.port);
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
