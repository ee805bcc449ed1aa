// A gateway that was started by hand, and its page in a real browser: what the tests of that share.

import type { Browser, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { newContext } from "../support/browser.ts";
import type { useCommands } from "./commands.ts";

interface Gateway {
  port: string;
  kill: () => Promise<void>;
  /** With its servers. */
  stop: () => Promise<void>;
}

type Commands = ReturnType<typeof useCommands>;

export async function up(commands: Commands, port = "0"): Promise<Gateway> {
  const gateway = commands.run("up", "--port", port);
  await gateway.said("listens on");
  const [, found = ""] = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.stderr) ?? [];
  const stop = async (): Promise<void> => {
    gateway.process.kill("SIGTERM");
    await gateway.exited;
  };
  return { kill: () => gateway.kill(), stop, port: found };
}

export async function openPage(commands: Commands, browser: Browser): Promise<Page> {
  const printed = commands.run("ui", "--print");
  expect(await printed.exited).toBe(0);
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.goto(printed.stdout.trim());
  await expect.poll(() => page.getByRole("status").first().textContent()).toBe("serving");
  return page;
}

/** By keyboard. */
export async function press(what: Locator): Promise<void> {
  await what.focus();
  await what.press("Enter");
}
