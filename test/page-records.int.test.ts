import { afterAll, expect, it } from "vitest";
import { fixture } from "./support/boards.ts";
import { axeViolations, describeInBrowser, goTo, textOf, useGateway } from "./support/browser.ts";

const SECRET = "value-of-a-secret-in-the-page";
const VARIABLE = "PLUGBOARD_TEST_OF_RECORDS";
const MISSING = "PLUGBOARD_TEST_MISSING";

describeInBrowser("records in the page", (browser) => {
  const rig = useGateway(() => {
    process.env[VARIABLE] = SECRET;
    delete process.env[MISSING];
    return {
      servers: {
        careful: { ...fixture("echo"), approval: "ask" },
        hostile: { ...fixture("hostile-words"), env: { API_TOKEN: `secret://env/${VARIABLE}` } },
        needy: { ...fixture("echo"), env: { KEY: `secret://env/${MISSING}` } },
      },
    };
  });
  afterAll(() => {
    for (const name of [VARIABLE, MISSING]) delete process.env[name];
  });

  it("shows what a call would change, refuses it with words that its caller reads, and has it in the audit", async () => {
    const { page } = await rig.open(browser());
    // A window of its own: Chromium draws a tab in the background once a second.
    const { page: deciding } = await rig.open(browser());
    await deciding.goto(`${rig.origin}/ui/#/approvals`);
    const edit = {
      text: "x",
      path: "/a.txt",
      old_string: "one\ntwo\n",
      new_string: "one\nthree\n",
    };
    await rig.call(page, "careful/echo", edit);
    const question = deciding.getByRole("article");
    await expect.poll(() => question.locator("figure").textContent()).toMatch(/- two.*\+ three/s);
    expect(await question.textContent()).toContain("approval of server careful");
    expect(await axeViolations(deciding)).toEqual([]);
    await question.getByLabel("Why not, for the model to read").fill("ask me tomorrow");
    await question.getByRole("button", { name: "Refuse: careful/echo" }).focus();
    await deciding.keyboard.press("Enter");
    await expect.poll(() => deciding.evaluate("document.activeElement.id")).toBe("main");
    await expect.poll(() => page.getByLabel("Result").textContent()).toContain("ask me tomorrow");

    await rig.call(page, "careful/add", { a: 1, b: 2 });
    await deciding.getByRole("button", { name: "Always allow: careful/add" }).click();
    await expect.poll(() => page.getByLabel("Result").textContent()).toContain("Done");
    await rig.call(page, "careful/add", { a: 2, b: 3 });
    await expect.poll(() => page.getByLabel("Result").textContent()).toContain("Done");
    await deciding.getByRole("button", { name: "Ask again: careful/add" }).click();
    await deciding.getByText("you are asked each time").waitFor();
    await rig.call(page, "careful/add", { a: 3, b: 4 });
    await deciding.getByRole("button", { name: "Allow once: careful/add" }).click();
    await expect.poll(() => page.getByLabel("Result").textContent()).toContain("Done");

    await rig.call(page, "hostile/constructor", {});
    await page.getByLabel("Result").waitFor();
    await goTo(page, "Audit");
    const rows = page.getByLabel("Calls on record").locator("tbody tr");
    await expect.poll(() => rows.filter({ hasText: "hostile/constructor" }).count()).toBe(1);
    await page.getByLabel("Outcome").selectOption("refused");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await rows.textContent()).toContain("careful/echo");
    await page.getByLabel("Outcome").selectOption("ok");
    await page.getByLabel("Tool").fill("add");
    await expect.poll(() => rows.count()).toBe(3);
    // The one in the middle was always allowed.
    expect(await rows.filter({ hasText: "waiting for answers" }).count()).toBe(2);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as CSV" }).click(),
    ]);
    const saved = await textOf(download);
    expect(saved.split("\r\n")[0]).toBe(
      "time,type,agent,session,caller,server,tool,decision,rule,outcome,decided,durationMs,waitedMs,bytes,arguments",
    );
    expect(saved).toContain(",careful,add,approved,approval: always,ok,,");
    await page.getByLabel("Tool").fill("constructor");
    await rows.getByRole("link", { name: "hostile/constructor" }).click();
    await page.getByRole("heading", { name: "Through the guard" }).waitFor();
  });

  it("shows which secrets work, tests one, and never a value", async () => {
    const { page } = await rig.open(browser());
    const needy = page.locator(".tiles li").filter({ hasText: "needy" });
    await expect
      .poll(() => needy.textContent())
      .toMatch(/is not set.*export PLUGBOARD_TEST_MISSING/s);
    await goTo(page, "Secrets");
    const row = page.getByRole("row").filter({ hasText: VARIABLE });
    await expect.poll(() => row.textContent()).toContain("resolved");
    const missing = page.getByRole("row").filter({ hasText: MISSING });
    await expect.poll(() => missing.textContent()).toContain("failed");
    process.env[MISSING] = "now-it-is-there";
    await missing.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => missing.textContent()).toContain("resolved");
    expect(await page.textContent("body")).not.toMatch(/value-of-a-secret|now-it-is-there/);
  });

  it("shows a server's past, its memory, tools and lines, and to viewers none of its words", async () => {
    const { page, complaints } = await rig.open(browser());
    const viewer = await rig.open(browser(), { role: "viewer" });
    for (const each of [page, viewer.page]) {
      await each.goto(`${rig.origin}/ui/#/servers/default%2Fhostile`);
      await each.getByRole("heading", { name: "Its states" }).waitFor();
      await expect.poll(() => each.textContent("main")).toContain("Memory");
      await each.getByRole("link", { name: "constructor", exact: true }).waitFor();
    }
    await expect.poll(() => page.textContent("main")).toContain("starting with [REDACTED]");
    expect(await viewer.page.textContent("main")).not.toContain("starting with");
    await viewer.page.goto(`${rig.origin}/ui/#/secrets`);
    await viewer.page.getByText("Only the owner sees").waitFor();
    expect(await viewer.page.textContent("body")).not.toContain("secret://");
    expect(await page.textContent("main")).toContain("offer tools");
    expect(await viewer.page.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Calls do not start it again.").waitFor();
    await viewer.page.goto(`${rig.origin}/ui/#/servers/default%2Fhostile`);
    await viewer.page.getByText("Calls do not start it again.").waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Restart" }).waitFor();
    const times = page.getByLabel("Lines, the latest last").locator("time");
    const written = async (): Promise<(string | null)[]> =>
      Promise.all((await times.all()).map((time) => time.getAttribute("datetime")));
    await expect.poll(async () => new Set(await written()).size).toBeGreaterThan(1);
    const shown = await written();
    expect(shown).toEqual(shown.toSorted((a, b) => Date.parse(a ?? "") - Date.parse(b ?? "")));
    await page.goto(`${rig.origin}/ui/#/servers/default%2Fneedy`);
    await expect
      .poll(() => page.getByLabel("States, the latest first").allTextContents())
      .toEqual([expect.stringContaining(MISSING)]);
    expect(await page.textContent("main")).toContain("SECRET_UNAVAILABLE");
    expect(complaints).toEqual([]);
  });

  it.each([
    { dark: false, width: 1200 },
    { dark: true, width: 360 },
  ])("keeps nobody out ($width px, dark: $dark)", async (options) => {
    const { page } = await rig.open(browser(), options);
    const found: Record<string, string[]> = {};
    const look = async (view: string): Promise<void> => {
      found[view] = await axeViolations(page);
      const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      if (isWider === true) found[view].push("wider than the window");
    };
    for (const view of ["Audit", "Secrets", "Approvals", "Activity"]) {
      await goTo(page, view);
      await expect.poll(() => page.getByText("Asking…").count()).toBe(0);
      await look(view);
    }
    await goTo(page, "Overview");
    await page.getByText("What leaving a server out would save").click();
    await expect.poll(() => page.textContent("details")).toContain("tokens");
    await look("Overview");
    await page.goto(`${rig.origin}/ui/#/servers/default%2Fhostile`);
    await page.getByRole("heading", { name: "Its tools" }).waitFor();
    await look("a server");
    expect(found).toEqual(Object.fromEntries(Object.keys(found).map((view) => [view, []])));
  });
});
