import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { connectChange, pageApplications } from "../src/cli/page/applications.ts";
import { readSource } from "../src/cli/page/add.ts";
import { writeLinkFile } from "../src/cli/ui/link-file.ts";
import type { CliContext } from "../src/cli/context.ts";
import { PlugboardError } from "../src/core/types/errors.ts";
import type { Change } from "../src/serve/gateway/page/wire.ts";
import { systemClock } from "../src/util/clock.ts";
import { freePorts } from "./support/free-ports.ts";
import { CLIENT, openProvider, type TestProvider } from "./support/provider.ts";
import {
  axeViolations,
  describeInBrowser,
  goTo,
  newContext,
  useGateway,
} from "./support/browser.ts";

/** As much of a command line as connecting an application takes. */
function contextIn(directory: string): CliContext {
  const env = { PATH: "", PLUGBOARD_HOME: join(directory, "home") };
  return {
    io: { env, cwd: directory, homedir: directory },
    options: { config: join(directory, "plugboard.json"), agents: [], json: true },
    clock: systemClock,
  } as unknown as CliContext;
}

/** What was confirmed. */
type Added = Extract<Change, { kind: "add" }>;

const CURSOR = '{\n  // mine\n  "mcpServers": {\n    "own": { "command": "x" }\n  }\n}\n';

describeInBrowser("clients in the page", (browser) => {
  let provider: TestProvider;
  let file: string;
  let added: Added[];
  let links: string;

  beforeAll(async () => {
    provider = await openProvider();
  });
  const rig = useGateway(async (stateDir) => {
    links = join(stateDir, "link");
    file = join(stateDir, ".cursor", "mcp.json");
    mkdirSync(join(stateDir, ".cursor"));
    writeFileSync(file, CURSOR);
    writeFileSync(join(stateDir, "plugboard.json"), '{ "mcpServers": {} }');
    added = [];
    const [port = 0] = await freePorts(1);
    const context = contextIn(stateDir);
    return {
      servers: {},
      settings: {
        port,
        publicUrl: `http://127.0.0.1:${port}`,
        jwt: {
          issuers: [{ issuer: provider.url, algorithms: ["ES256"] }],
          rights: [
            { issuer: provider.url, claim: ["groups"], has: ["admins"], role: "owner" },
            { issuer: provider.url, claim: ["groups"], has: ["staff"], role: "viewer" },
          ],
        },
        ui: { clientId: CLIENT, issuer: provider.url, scopes: [] },
      },
      more: {
        changes: {
          connect: connectChange(context),
          add: {
            takes: z.custom<Added>(),
            plan: async (given) => ({
              shown: { summary: "add it", about: {}, starts: [], diff: [], warnings: [] },
              apply: async () => {
                if (given.name === "broken") throw new PlugboardError("NETWORK", "nobody answers");
                added.push(given);
                return "it answers.";
              },
            }),
          },
        },
        configuration: {
          read: (source) => readSource(source, context),
          upload: () => Promise.reject(new PlugboardError("UNSUPPORTED", "no files")),
          search: () => Promise.reject(new PlugboardError("NETWORK", "no registry")),
          entry: () => Promise.reject(new PlugboardError("UNKNOWN_SERVER", "no such server")),
        },
        applications: () => pageApplications(context),
      },
    };
  });
  afterAll(() => provider?.close());

  it("a token is made by keyboard, shown once, used, and revoked after a question", async () => {
    const { page, complaints } = await rig.open(browser());
    await goTo(page, "Clients");
    await page.getByRole("button", { name: "New token" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name" }).focus();
    await page.keyboard.type("ci");
    await page.getByRole("textbox", { name: "Only what matches" }).fill("files/read_*\n@readOnly");
    await page.getByRole("combobox", { name: "Valid" }).selectOption({ label: "for 30 days" });
    await page.getByRole("textbox", { name: "Name" }).press("Enter");
    const made = page.getByRole("region", { name: "The new token ci" });
    const token = (await made.getByLabel("Token", { exact: true }).textContent()) ?? "";
    expect(token).toMatch(/^plug_[\w-]{43}$/);
    expect(await made.getByLabel("Address", { exact: true }).textContent()).toBe(
      `${rig.origin}/mcp`,
    );
    expect(await made.locator("summary").allTextContents()).toEqual(
      expect.arrayContaining([
        "Claude Code",
        "Codex",
        "Cursor, in ~/.cursor/mcp.json",
        "VS Code, in mcp.json",
      ]),
    );
    const answer = (): Promise<Response> =>
      fetch(`${rig.origin}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      });
    expect((await answer()).status).not.toBe(401);
    await made.getByRole("button", { name: "I have it" }).click();
    expect(await page.content()).not.toContain(token);
    const row = page.getByRole("row").filter({ hasText: "files/read_*" });
    expect(await row.textContent()).toContain("no resources or prompts");
    await expect.poll(() => row.textContent()).toMatch(/now|\d+ (s|min) ago/);
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    expect(await row.count()).toBe(1);
    await page.getByRole("button", { name: "Revoke ci" }).click();
    await page.getByRole("button", { name: "Revoke ci now" }).click();
    await expect.poll(() => row.count()).toBe(0);
    await expect.poll(async () => (await answer()).status).toBe(401);
    expect(complaints).toEqual([]);
  });

  it("an application is connected with the change that was shown, and taken out byte for byte", async () => {
    const { page } = await rig.open(browser());
    await goTo(page, "Clients");
    await page.getByRole("button", { name: "Connect Cursor" }).click();
    const preview = page.getByRole("dialog");
    await expect
      .poll(() => preview.getByLabel("Difference").textContent())
      .toContain('+     "plugboard": {');
    expect(await preview.textContent()).toContain(file);
    expect(readFileSync(file, "utf8")).toBe(CURSOR);
    await preview.getByRole("button", { name: "Cancel" }).click();
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
      .toBe("Connect Cursor");
    await page.getByRole("button", { name: "Connect Cursor" }).click();
    await preview.getByRole("button", { name: "Connect it" }).click();
    await page.getByRole("button", { name: "Take out of Cursor" }).waitFor();
    expect(readFileSync(file, "utf8")).toContain('"plugboard"');
    expect(readFileSync(file, "utf8")).toContain("// mine");
    await page.getByRole("button", { name: "Take out of Cursor" }).click();
    await expect.poll(() => preview.textContent()).toContain("becomes what it was before");
    await preview.getByRole("button", { name: "Take it out" }).click();
    await page.getByRole("button", { name: "Connect Cursor" }).waitFor();
    expect(readFileSync(file, "utf8")).toBe(CURSOR);
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
  });

  it("a change is refused if the file is no longer what was shown", async () => {
    const { page } = await rig.open(browser());
    await goTo(page, "Clients");
    await page.getByRole("button", { name: "Connect Cursor" }).click();
    const confirm = page.getByRole("button", { name: "Connect it" });
    await confirm.waitFor();
    const other = CURSOR.replace("own", "other");
    writeFileSync(file, other);
    await confirm.click();
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("no longer what");
    expect(readFileSync(file, "utf8")).toBe(other);
    writeFileSync(file, CURSOR);
  });

  it("a viewer sees who is here, and neither tokens nor applications", async () => {
    const { page } = await rig.open(browser(), { role: "viewer" });
    await goTo(page, "Clients");
    expect(await page.getByRole("button", { name: "New token" }).count()).toBe(0);
    expect(await page.textContent("main")).not.toContain("Cursor");
    const statuses = await page.evaluate(`Promise.all(
      [
        ["tokens/list", {}],
        ["tokens/add", { name: "x" }],
        ["tokens/revoke", { id: "default" }],
        ["applications/list", {}],
        ["tools/call", { agent: "default", tool: "x", args: {} }],
        ["tools/answer", { call: "x", question: "x", action: "decline" }],
        ["changes/preview", { change: { kind: "connect", application: "cursor", undo: false } }],
        ["changes/confirm", { hash: "x" }],
        ["approvals/answer", { id: "x", answer: "once" }],
        ["pins/approve", { server: "x", key: "x", hash: "x" }],
        ["servers/restart", { agent: "default", server: "x" }],
      ].map(async ([name, body]) => {
        const headers = {
          "x-plugboard": localStorage.getItem("plugboard-ui"),
          "content-type": "application/json",
        };
        const reply = await fetch("api/" + name, { method: "POST", headers, body: JSON.stringify(body) });
        return name + " " + reply.status;
      }),
    )`);
    expect((statuses as string[]).filter((each) => !each.endsWith(" 403"))).toEqual([]);
  });

  it("somebody signs in through the provider, and the address keeps nothing of it", async () => {
    provider.claims = { groups: "staff", email: "ann@example.com" };
    const context = await newContext(browser());
    const page = await context.newPage();
    await page.goto(`${rig.origin}/ui/`);
    await page.getByRole("link", { name: /^Sign in with 127\.0\.0\.1/ }).click();
    await expect.poll(() => page.textContent(".you")).toContain("ann@example.com");
    expect(page.url()).toBe(`${rig.origin}/ui/`);
    expect((await context.cookies()).map(({ name }) => name)).toEqual([
      `plugboard-ui-${new URL(rig.origin).port}`,
    ]);
    await page.getByRole("button", { name: "Sign out" }).click();
    provider.claims = { groups: "guests", email: "<b>eve</b>" };
    await page.getByRole("link", { name: /^Sign in with/ }).click();
    await expect
      .poll(() => page.getByRole("alert").textContent())
      .toContain("<b>eve</b> [1] may not see this page");
    // What began the sign-in is left, and works no more.
    const left = (await context.cookies()).map(({ name }) => name);
    expect(left).toEqual([`plugboard-ui-${new URL(rig.origin).port}-sign-in`]);
    await page.goto(`${rig.origin}/ui/callback?error=<script>alert(1)</script>&state=x`);
    await expect
      .poll(() => page.getByRole("alert").textContent())
      .toBe("Sorry, your provider did not sign you in.");
    expect(await axeViolations(page)).toEqual([]);
  });

  it("a file leads to the page, so that the link is nowhere in the browser's arguments", async () => {
    const link = rig.gateway.http?.newPageLink("owner") ?? "";
    const random = (bytes: number): Buffer => Buffer.alloc(bytes, 7);
    const path = await writeLinkFile(link, { directory: links, now: Date.now(), random });
    const context = await newContext(browser());
    const page = await context.newPage();
    await page.goto(`file://${path}`);
    await expect.poll(() => page.getByRole("status").textContent()).toBe("serving");
    expect(page.url()).toBe(`${rig.origin}/ui/`);
  });

  it("servers that are pasted together are added one by one, each with its own secrets", async () => {
    const { page } = await rig.open(browser());
    await goTo(page, "Add a server");
    await page.getByRole("button", { name: "JSON" }).click();
    const env = { TOKEN: "of-the-first-alone" };
    const servers = { first: { command: "a", env }, broken: { url: "https://example.com/mcp" } };
    await page
      .getByRole("textbox")
      .first()
      .fill(JSON.stringify({ mcpServers: servers }));
    await page.getByRole("button", { name: "Go on" }).click();
    const first = page.getByRole("article", { name: "first" });
    const broken = page.getByRole("article", { name: "broken" });
    expect(await first.getByLabel("TOKEN").inputValue()).toBe(env.TOKEN);
    expect(await broken.getByLabel("TOKEN").count()).toBe(0);
    await broken.getByLabel("A header that it needs").fill("Authorization");
    await broken.getByRole("button", { name: "Add a secret" }).click();
    await broken.getByLabel("Authorization", { exact: true }).fill("Bearer of-the-second");
    await broken.getByRole("button", { name: "Add…" }).click();
    await page.getByRole("button", { name: "Try it and add it" }).click();
    await broken.getByRole("button", { name: "Add it all the same…" }).waitFor();
    expect(await page.getByText("nobody answers").count()).toBe(1);
    await first.getByRole("button", { name: "Add…" }).click();
    await page.getByRole("button", { name: "Try it and add it" }).click();
    await page.getByText("it answers.").waitFor();
    expect(await first.count()).toBe(0);
    expect(await broken.getByLabel("Its name here").inputValue()).toBe("broken");
    expect(added).toMatchObject([{ name: "first", secrets: env }]);
  });

  it.each([
    { dark: false, width: 1200 },
    { dark: true, width: 360 },
  ])("has nothing that keeps people out ($width px, dark: $dark)", async (options) => {
    const { page } = await rig.open(browser(), options);
    await goTo(page, "Clients");
    const found: string[] = [];
    const look = async (): Promise<void> => {
      found.push(...(await axeViolations(page)));
      const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      if (isWider === true) found.push("wider than the window");
    };
    await page.getByRole("button", { name: "Connect Cursor" }).click();
    await page.getByRole("button", { name: "Connect it" }).waitFor();
    await look();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New token" }).click();
    await look();
    await page.getByRole("textbox", { name: "Name" }).fill(`t${options.width}`);
    await page.getByRole("textbox", { name: "Name" }).press("Enter");
    await page.locator("summary").first().click();
    await page.getByRole("button", { name: `Revoke t${options.width}` }).click();
    await look();
    expect(found).toEqual([]);
    const shots = process.env["PAGE_SHOTS"];
    if (shots !== undefined) {
      await page.screenshot({ path: join(shots, `clients-${options.width}.png`), fullPage: true });
    }
  });
});
