import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { fixture } from "./support/boards.ts";
import { axeViolations, describeInBrowser, goTo, textOf, useGateway } from "./support/browser.ts";

const SECRET = "value-behind-a-reference";
const VARIABLE = "PLUGBOARD_TEST_OF_THE_PAGE";

describeInBrowser("calls in the page", (browser) => {
  const rig = useGateway(() => {
    process.env[VARIABLE] = SECRET;
    const env = { API_TOKEN: `secret://env/${VARIABLE}` };
    return { servers: { echo: { ...fixture("echo"), env } } };
  });
  afterAll(() => {
    delete process.env[VARIABLE];
  });

  async function call(page: Page, tool: string, args: object): Promise<void> {
    await rig.call(page, tool, args);
    await page.getByLabel("Result").waitFor();
  }

  it("are shown with their stages, arguments and answer, and what was taken out of these", async () => {
    const { page, complaints } = await rig.open(browser());
    await call(page, "echo/echo", { text: `it is ${SECRET}` });
    await expect
      .poll(() => page.textContent("main"))
      .toMatch(/Its definitionis as it was first seen.*echo__echo/s);
    await goTo(page, "Activity");
    await page.getByRole("row").filter({ hasText: "echo/echo" }).getByRole("link").first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.textContent("h1")).toBe("echo/echo");
    const stages = page.getByLabel("Stages");
    await expect.poll(() => stages.textContent()).toContain("the tool");
    expect(await stages.textContent()).toMatch(/secrets.*audit/s);
    const taken = page.getByLabel("Secrets that were taken out");
    expect(await taken.first().textContent()).toContain(`text: secret://env/${VARIABLE}`);
    expect(await taken.last().textContent()).toContain("content[0].text");
    expect(await page.getByLabel("Arguments").textContent()).toContain("it is [REDACTED]");
    expect(await page.textContent("main")).not.toContain(SECRET);
    expect(await axeViolations(page)).toEqual([]);
    const { pathname, hash } = new URL(page.url());
    const viewer = await rig.open(browser(), { role: "viewer", width: 360, dark: true });
    await viewer.page.goto(`${rig.origin}${pathname}${hash}`);
    await viewer.page.getByText("The owner sees what was said.").waitFor();
    expect(await viewer.page.getByLabel("Stages").textContent()).toContain("the tool");
    expect(await viewer.page.textContent("main")).not.toMatch(/it is|secret:/);
    expect(await axeViolations(viewer.page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("leave no more in memory after 100,000 of them than after a few thousand", async () => {
    const { page, context } = await rig.open(browser());
    const cdp = await context.newCDPSession(page);
    await cdp.send("Performance.enable");
    const heap = async (): Promise<number> => {
      await cdp.send("HeapProfiler.collectGarbage");
      const { metrics } = await cdp.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0;
    };
    /** The stream as the gateway writes it, with so many events of a call each. */
    const stream = (events: number, from: number): string =>
      Array.from({ length: events }, (_, at) => {
        const id = String(from + at);
        const facts = { id, agent: "default", tool: "echo/echo", at, ms: 1, outcome: "ok" };
        const is = { calls: [facts], left: 0 };
        return `id: x-${id}\nevent: calls\ndata: ${JSON.stringify({ at, is })}\n\n`;
      }).join("");
    let told = 0;
    await goTo(page, "Activity");
    await page.route("**/ui/api/events", async (route) => {
      const from = told;
      told += 5000;
      const contentType = "text/event-stream";
      await route.fulfill({ contentType, body: from < 100_000 ? stream(5000, from) : "" });
    });
    await page.reload();
    await expect.poll(() => told, { timeout: 60_000 }).toBeGreaterThan(10_000);
    const early = await heap();
    await expect.poll(() => told, { timeout: 60_000 }).toBeGreaterThan(100_000);
    const late = await heap();
    expect(late).toBeLessThan(early + 8 * 1024 * 1024);
  });

  it("can be filtered, paused and saved", async () => {
    const { page, context } = await rig.open(browser());
    await call(page, "echo/add", { a: 1, b: 2 });
    await call(page, "echo/fail", {});
    await goTo(page, "Activity");
    await page.getByLabel("Find calls").fill("echo/fail");
    const rows = page.getByLabel("Calls").getByRole("row");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("button", { name: "Pause" }).click();
    const second = await context.newPage();
    await second.goto(`${rig.origin}/ui/`);
    await call(second, "echo/fail", {});
    expect(await rows.count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    const saved = await textOf(download);
    const [first, ...rest] = saved.trim().split("\n");
    expect(rest).toEqual([]);
    expect(JSON.parse(first ?? "")).toMatchObject({
      tool: "echo/fail",
      outcome: "error",
      verdict: "allowed",
      who: "the owner, in the page",
    });
    await page.getByRole("button", { name: "Go on" }).click();
    await expect.poll(() => rows.count()).toBe(3);
  });
});
