import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { fixture } from "./support/boards.ts";
import { temporaryDirectory } from "./support/directory.ts";
import {
  axeViolations,
  describeInBrowser,
  goTo,
  newContext,
  startGateway,
  useGateway,
} from "./support/browser.ts";

const SERVERS = {
  echo: fixture("echo"),
  careful: { ...fixture("echo"), approval: "ask" as const },
  hostile: { ...fixture("hostile-words"), env: { API_TOKEN: "plain-value-of-a-token" } },
  broken: fixture("exit-at-once"),
};

const VIEWS = [
  "Overview",
  "Approvals",
  "Pins",
  "Servers",
  "Add a server",
  "Tools",
  "Activity",
  "Clients",
];

describeInBrowser("the page", (browser) => {
  let offered: string;
  const offer = (description: string): void =>
    writeFileSync(offered, JSON.stringify({ tools: [{ name: "send", description }] }));
  const rig = useGateway((stateDir) => {
    offered = join(stateDir, "offered.json");
    offer("Sends a letter to your sister.");
    const changing = { ...fixture("from-file", `--file=${offered}`), pins: "block" as const };
    return { servers: { ...SERVERS, changing } };
  });

  it("opens with a link that works once, and stays open", async () => {
    const { page, context, complaints } = await rig.open(browser());
    expect(page.url()).toBe(`${rig.origin}/ui/`);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    await page.reload();
    await expect.poll(() => page.getByRole("status").textContent()).toBe("serving");

    const link = rig.gateway.http?.newPageLink("owner") ?? "";
    const other = await newContext(browser());
    const first = await other.newPage();
    await first.goto(link);
    await expect.poll(() => first.getByRole("status").textContent()).toBe("serving");
    const third = await newContext(browser());
    const late = await third.newPage();
    await late.goto(link);
    await expect.poll(() => late.getByRole("alert").textContent()).toContain("has been used");
    expect(complaints).toEqual([]);

    await page.getByRole("button", { name: "Sign out" }).click();
    await expect.poll(() => page.textContent("main")).toContain("plugboard ui");
    await page.reload();
    await expect.poll(() => page.textContent("main")).toContain("plugboard ui");
  });

  it("shows each server with its state, and why one has failed", async () => {
    const { page } = await rig.open(browser());
    expect(await page.getByRole("main").textContent()).toContain("Connect an application");
    const tile = page.getByRole("listitem").filter({ hasText: "broken" });
    await expect.poll(() => tile.first().textContent()).toMatch(/restarting|failed/);
    await page.getByRole("main").getByRole("link", { name: "echo", exact: true }).click();
    await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("echo");
    const process = page.locator("dt", { hasText: "Process" }).locator("+ dd");
    const before = await process.textContent();
    await page.getByRole("button", { name: "Restart" }).click();
    await expect.poll(() => process.textContent()).not.toBe(before);
  });

  it("calls a tool by keyboard alone, and shows the call in every tab", async () => {
    const { page, context } = await rig.open(browser());
    const second = await context.newPage();
    await second.goto(`${rig.origin}/ui/#/activity`);
    await goTo(page, "Tools");
    await page.getByLabel("Find a tool by what it does").focus();
    await page.keyboard.type("adds two numbers");
    const found = page.getByRole("link", { name: "echo/add" });
    await found.waitFor();
    await found.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Call it" }).waitFor();
    await page.getByRole("spinbutton", { name: "a" }).focus();
    await page.keyboard.type("2");
    await page.keyboard.press("Tab");
    await page.keyboard.type("40");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByLabel("Structured content").textContent()).toContain("42");
    await page.getByRole("button", { name: "Command" }).click();
    expect(await page.getByLabel("Command", { exact: true }).textContent()).toBe(
      `plugboard call echo/add '{"a":2,"b":40}'`,
    );
    const row = second.getByRole("row").filter({ hasText: "echo/add" });
    await expect.poll(() => row.first().textContent()).toContain("ok");
  });

  it("does not call with other arguments than those that are shown", async () => {
    const { page } = await rig.open(browser());
    await page.goto(`${rig.origin}/ui/#/tools/default%2Fecho%2Fadd`);
    await page.getByRole("spinbutton", { name: "a" }).fill("1");
    await page.getByRole("spinbutton", { name: "b" }).fill("1");
    await page.getByRole("button", { name: "JSON" }).click();
    for (const text of ["[1]", "5", '{"a": 5']) {
      await page.getByRole("textbox", { name: "Arguments" }).fill(text);
      await page.getByRole("button", { name: "Call" }).click();
      expect(await page.getByLabel("Result").count()).toBe(0);
    }
    // What is not JSON yet is not lost, and says why.
    await page.getByRole("button", { name: "Form", exact: true }).click();
    const written = page.getByRole("textbox", { name: "Arguments" });
    expect(await written.inputValue()).toBe('{"a": 5');
    expect(await page.textContent("main")).toContain("This is not JSON yet: ");
    await written.fill('{"a": 5, "b": 6}');
    await page.getByRole("button", { name: "Call" }).click();
    await expect.poll(() => page.getByLabel("Structured content").textContent()).toContain("11");
  });

  it("is not opened by its cookie alone, which a browser sends to other ports too", async () => {
    const { page } = await rig.open(browser());
    await page.evaluate("localStorage.clear()");
    await page.reload();
    await expect.poll(() => page.textContent("main")).toContain("plugboard ui");
  });

  it("cancels a call, and shows its progress until then", async () => {
    const { page } = await rig.open(browser());
    await page.goto(`${rig.origin}/ui/#/tools/default%2Fecho%2Fprogress`);
    await page.getByRole("spinbutton", { name: "steps" }).fill("1000");
    await page.getByRole("spinbutton", { name: "ms" }).fill("20");
    await page.getByRole("button", { name: "Call" }).click();
    await expect.poll(() => page.textContent("output >> nth=1")).toMatch(/step \d+ of 1000/);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("You cancelled the call").waitFor();
    await goTo(page, "Activity");
    const row = page.getByRole("row").filter({ hasText: "echo/progress" });
    await expect.poll(() => row.first().textContent()).toContain("CANCELLED");
  });

  it("asks for approval of the exact call, and a viewer sees that it waits and nothing more", async () => {
    const { page } = await rig.open(browser());
    const viewer = await rig.open(browser(), { role: "viewer" });
    await page.goto(`${rig.origin}/ui/#/tools/default%2Fcareful%2Fadd`);
    await page.getByRole("spinbutton", { name: "a" }).fill("1");
    await page.getByRole("spinbutton", { name: "b" }).fill("2");
    await page.getByRole("button", { name: "Call" }).click();
    // A window of its own: Chromium draws a tab in the background once a second.
    const { page: waiting } = await rig.open(browser());
    await waiting.goto(`${rig.origin}/ui/#/approvals`);
    await expect
      .poll(() => waiting.getByLabel("Arguments").textContent())
      .toBe(JSON.stringify({ a: 1, b: 2 }, null, 2));
    await goTo(viewer.page, "Approvals");
    expect(await viewer.page.getByRole("link", { name: "Add a server" }).count()).toBe(0);
    expect(await viewer.page.getByRole("button", { name: "Notify me" }).count()).toBe(0);
    const question = viewer.page.getByRole("article");
    await expect.poll(() => question.textContent()).toContain("careful/add");
    expect(await question.getByLabel("Arguments").count()).toBe(0);
    expect(await question.getByRole("button").count()).toBe(0);
    await waiting.getByRole("button", { name: "Allow once: careful/add" }).click();
    await expect.poll(() => page.getByLabel("Structured content").textContent()).toContain("3");
    await expect.poll(() => waiting.getByRole("article").count()).toBe(0);
  });

  it("shows what a server says differently, and approves just that", async () => {
    const { page } = await rig.open(browser());
    await page.goto(`${rig.origin}/ui/#/servers/default%2Fchanging`);
    await page.getByText("ready").first().waitFor();
    offer("Sends a letter to your bank.");
    await page.getByRole("button", { name: "Restart" }).click();
    await goTo(page, "Pins");
    const change = page.getByRole("article", { name: "changing/send" });
    await expect.poll(() => change.locator("del").textContent()).toBe("sister");
    expect(await change.locator("ins").textContent()).toBe("bank");
    await expect.poll(() => change.textContent()).toContain("Blocked: Calls of it are refused");
    await page.getByRole("button", { name: "Approve: changing/send" }).click();
    await expect.poll(() => page.getByRole("article").count()).toBe(0);
  });

  it("shows a server's words as text, with what nobody would see written out", async () => {
    const { page, complaints } = await rig.open(browser());
    await goTo(page, "Tools");
    const hidden = page.getByRole("link", { name: "hostile/hid\\u{200b}den" });
    await hidden.waitFor();
    await hidden.click();
    await page.getByRole("heading", { name: "Call it" }).waitFor();
    expect(await page.textContent("main")).not.toContain("plain-value-of-a-token");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByLabel("Result").waitFor();
    expect(complaints).toEqual([]);
  });

  it.each([
    { dark: false, width: 1200 },
    { dark: true, width: 360 },
  ])("has nothing that keeps people out ($width px, dark: $dark)", async (options) => {
    const { page } = await rig.open(browser(), options);
    const found: Record<string, string[]> = {};
    for (const view of VIEWS) {
      await goTo(page, view);
      found[view] = await axeViolations(page);
      const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      if (isWider === true) found[view].push("wider than the window");
    }
    await page.goto(`${rig.origin}/ui/#/tools/default%2Fecho%2Fadd`);
    await page.getByRole("heading", { name: "Call it" }).waitFor();
    found["a tool"] = await axeViolations(page);
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((view) => [view, []])));
  });

  it("says when the gateway is gone, and goes on when it is back", async () => {
    const own = temporaryDirectory();
    const first = await startGateway(own, { echo: fixture("echo") });
    onTestFinished(() => first.gateway.close());
    const port = Number(new URL(first.origin).port);
    const { page } = await first.open(browser());
    await expect.poll(() => page.getByRole("status").textContent()).toBe("serving");
    await first.gateway.close();
    await expect.poll(() => page.getByRole("status").textContent()).toContain("does not answer");
    const next = await startGateway(own, { echo: fixture("echo") }, { port });
    onTestFinished(() => next.gateway.close());
    await expect.poll(() => page.getByRole("status").textContent()).toBe("serving");
  });
});
