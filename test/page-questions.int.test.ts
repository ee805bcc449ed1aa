import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OAuthFixture, startOAuth } from "./fixtures/oauth/oauth.ts";
import { fixture } from "./support/boards.ts";
import { axeViolations, describeInBrowser, goTo, useGateway } from "./support/browser.ts";

const SERVERS = {
  asks: { ...fixture("asks"), sampling: "allow" as const },
  careful: { ...fixture("echo"), approval: "ask" as const },
};

const FORM = {
  message: "Who are you? <b>bold</b>",
  requestedSchema: {
    type: "object",
    properties: {
      mail: { type: "string", format: "email", title: "Mail" },
      size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"], title: "Size" },
    },
    required: ["mail"],
  },
};

describeInBrowser("questions in the page", (browser) => {
  let oauth: OAuthFixture;
  beforeAll(async () => {
    oauth = await startOAuth();
  });
  const rig = useGateway(() => ({
    servers: {
      ...SERVERS,
      docs: { url: oauth.url },
      own: { url: oauth.url, oauth: { per: "user" } },
    },
  }));
  afterAll(() => oauth?.close());

  const result = (page: Page): Promise<string | null> =>
    page.getByLabel("Structured content").textContent();

  it.each([
    { dark: false, width: 1200 },
    { dark: true, width: 360 },
  ])("a server's form is filled in by keyboard ($width px)", async (options) => {
    const { page, complaints } = await rig.open(browser(), options);
    await rig.call(page, "asks/ask", { method: "elicitation/create", params: FORM });
    const question = page.getByRole("region", { name: "asks asks you" });
    await question.waitFor();
    expect(await question.textContent()).toContain("Who are you? <b>bold</b>");
    await expect
      .poll(() => page.evaluate("document.activeElement?.textContent"))
      .toBe("asks asks you");
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth")).toBe(false);
    await page.keyboard.press("Tab");
    await page.keyboard.type("nobody");
    await page.keyboard.press("Enter");
    await expect.poll(() => question.getByRole("alert").textContent()).toContain("e-mail");
    await page.getByRole("textbox", { name: "Mail" }).fill("ann@example.com");
    await page.getByRole("combobox", { name: "Size" }).selectOption({ label: "Large (l)" });
    await page.getByRole("textbox", { name: "Mail" }).press("Enter");
    await expect.poll(() => result(page)).toContain('"mail": "ann@example.com"');
    expect(await result(page)).toContain('"size": "l"');
    expect(await question.count()).toBe(0);
    // The answer that the form did not take.
    expect(complaints.filter((each) => !each.includes("400"))).toEqual([]);
  });

  it("a page that a server asks for is shown in full, and opened by the person alone", async () => {
    const { page, context } = await rig.open(browser());
    const url = "https://example.com/sign-in?next=%3Cb%3E";
    const params = { mode: "url", message: "Sign in", url, elicitationId: "1" };
    await rig.call(page, "asks/ask", { method: "elicitation/create", params });
    const link = page.getByRole("link", { name: url });
    await link.waitFor();
    expect(await link.getAttribute("href")).toBe(url);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(context.pages()).toHaveLength(1);
    await page.getByRole("button", { name: "Decline" }).click();
    await expect.poll(() => result(page)).toContain("decline");
  });

  it("a server that wants a sign-in gets it from a person who agrees on the page that it names", async () => {
    const { page, context } = await rig.open(browser());
    await page.goto(`${rig.origin}/ui/#/servers/default%2Fdocs`);
    await page.getByRole("button", { name: "Sign in…" }).click();
    const link = page.getByRole("link", { name: "Open its sign-in page" });
    await link.waitFor();
    // Another server's view has no link of this one, and says that nobody has to do anything.
    await page.evaluate("location.hash = '#/servers/default%2Fown'");
    await expect.poll(() => page.textContent("main")).toContain("○ each person signs in");
    expect(await link.count()).toBe(0);
    await page.evaluate("location.hash = '#/servers/default%2Fdocs'");
    await page.getByRole("button", { name: "Sign in…" }).click();
    const [consent] = await Promise.all([context.waitForEvent("page"), link.click()]);
    expect(new URL(consent.url()).origin).toBe(oauth.issuer);
    await consent.getByRole("button", { name: "Agree" }).click();
    await page.getByRole("button", { name: "Restart" }).waitFor();
    expect(await link.count()).toBe(0);
    expect(await page.textContent("main")).not.toContain(oauth.tokens[0]?.token);
    await rig.call(page, "docs/count", { key: "of the person" });
    await expect.poll(() => page.getByLabel("Result").textContent()).toContain("Done");
  });

  it("a person writes what a model would, and nobody does without being asked", async () => {
    const { page } = await rig.open(browser());
    const messages = [{ role: "user", content: { type: "text", text: "Write a haiku" } }];
    const params = { messages, maxTokens: 100 };
    await rig.call(page, "asks/ask", { method: "sampling/createMessage", params });
    const question = page.getByRole("region", { name: "asks asks for a model" });
    await expect.poll(() => question.textContent()).toContain("Write a haiku");
    await question.getByRole("textbox").fill("Old pond");
    await question.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => result(page)).toContain("Old pond");
    expect(await result(page)).toContain("a person");
  });

  it("shows the approval that a call waits for beside it, and no other", async () => {
    const [mine, other] = [await rig.open(browser()), await rig.open(browser())];
    await rig.call(mine.page, "careful/add", { a: 1, b: 2 });
    await rig.call(other.page, "careful/add", { a: 3, b: 4 });
    const question = mine.page.getByRole("article");
    await expect
      .poll(() => question.getByLabel("Arguments").textContent())
      .toBe(JSON.stringify({ a: 1, b: 2 }, null, 2));
    expect(await question.count()).toBe(1);
    await question.getByRole("button", { name: "Allow once: careful/add" }).click();
    await expect.poll(() => result(mine.page)).toContain("3");
    expect(await other.page.getByLabel("Structured content").count()).toBe(0);
    await other.page.getByRole("button", { name: "Cancel" }).click();
  });

  it("a call goes on while its person looks elsewhere, and is cancelled from there", async () => {
    const { page } = await rig.open(browser());
    await rig.call(page, "asks/sleep", {});
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    await goTo(page, "Servers");
    const strip = page.getByRole("complementary", { name: "Your calls" });
    expect(await strip.textContent()).toContain("asks/sleep is running");
    let asked = "";
    page.once("dialog", (dialog) => {
      asked = dialog.type();
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked).toBe("beforeunload");
    await strip.getByRole("button", { name: "Cancel asks/sleep" }).click();
    await expect.poll(() => strip.count()).toBe(0);
    await page.goBack();
    await page.getByText("You cancelled the call").waitFor();
  });

  it("notifies of calls that wait, once somebody has asked for it", async () => {
    const { page } = await rig.open(browser());
    // Chromium without a screen shows none, so what would be shown is written down.
    await page.addInitScript(`
      globalThis.noted = [];
      globalThis.asked = 0;
      globalThis.Notification = class extends EventTarget {
        static permission = "default";
        static async requestPermission() { asked += 1; return (this.permission = "granted"); }
        constructor(title, options) { super(); noted.push([title, options.body]); }
        close() {}
      };
      Object.defineProperty(document, "hidden", { get: () => globalThis.away === true });
    `);
    await page.reload();
    await goTo(page, "Approvals");
    const button = page.getByRole("button", { name: "Notify me when a call waits" });
    expect(await page.evaluate("asked")).toBe(0);
    await button.click();
    expect(await page.evaluate("asked")).toBe(1);
    await page.evaluate("globalThis.away = true");
    const caller = await rig.open(browser());
    await rig.call(caller.page, "careful/add", { a: 1, b: 2 });
    await expect
      .poll(() => page.evaluate("noted"))
      .toEqual([["careful/add waits for your word", "asked by the owner, in the page"]]);
    await button.click();
    await caller.page.getByRole("button", { name: "Cancel" }).click();
    await rig.call(caller.page, "careful/add", { a: 1, b: 2 });
    await expect.poll(() => page.getByRole("article").count()).toBe(1);
    expect(await page.evaluate("noted.length")).toBe(1);
    await caller.page.getByRole("button", { name: "Cancel" }).click();
  });
});
