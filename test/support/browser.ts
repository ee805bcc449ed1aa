// A real Chromium for tests of the page, and a real gateway behind it. Where no Chromium is installed, the tests are skipped
// and say so.

import { mkdtempSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished } from "vitest";
import { gatewaySettings } from "../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../src/core/config/parse.ts";
import { silentLogger } from "../../src/core/types/logger.ts";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import type { GatewaySettings } from "../../src/core/types/gateway-settings.ts";
import {
  type OpenedGateway,
  openGateway,
  type OpenGatewayOptions,
} from "../../src/serve/gateway/open-gateway.ts";
import type { Role } from "../../src/serve/gateway/page/wire.ts";
import { systemClock } from "../../src/util/clock.ts";
import { removeDirectory } from "./directory.ts";

/** Connects to the one Chromium of the run: to start one costs more than most tests. */
export function describeInBrowser(name: string, tests: (browser: () => Browser) => void): void {
  const endpoint = inject("chromium");
  const why = endpoint === undefined ? " (skipped: Chromium is not installed)" : "";
  describe.skipIf(endpoint === undefined)(`${name}${why}`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.connect(endpoint ?? "");
    });
    afterAll(() => browser?.close());
    tests(() => browser);
  });
}

interface OpenedPage {
  page: Page;
  context: BrowserContext;
  /** What the browser complained about. */
  complaints: string[];
}

export interface TestGateway {
  gateway: OpenedGateway;
  origin: string;
  /** Fills in the arguments of a tool in its view, and calls it. */
  call(page: Page, tool: string, args: object): Promise<void>;
  /** Opens the page in a browser of its own, signed in. It is closed when the test has ended. */
  open(
    browser: Browser,
    options?: { role?: Role; width?: number; dark?: boolean },
  ): Promise<OpenedPage>;
}

export async function startGateway(
  stateDir: string,
  servers: Record<string, ServerConfig>,
  settings: Partial<GatewaySettings> = {},
  more: Partial<OpenGatewayOptions> = {},
): Promise<TestGateway> {
  const gateway = await openGateway({
    ...more,
    settings: { ...gatewaySettings({ port: 0 }), ...settings },
    agentIds: ["default"],
    readAgent: async () => parseAgentConfig({ servers }),
    defaultAgent: "default",
    network: { allow: [], env: {} },
    stateDir,
    cwd: stateDir,
    env: process.env,
    clock: systemClock,
    logger: silentLogger,
    pageFolder: fileURLToPath(new URL("../../dist/ui", import.meta.url)),
  });
  const link = (role: Role): string => gateway.http?.newPageLink(role) ?? "";
  const { origin } = new URL(gateway.http?.url ?? "");
  return {
    gateway,
    origin,
    async call(page, tool, args) {
      await page.goto(`${origin}/ui/#/tools/${encodeURIComponent(`default/${tool}`)}`);
      await page.getByRole("button", { name: "JSON" }).click();
      await page.getByRole("textbox", { name: "Arguments" }).fill(JSON.stringify(args));
      await page.getByRole("button", { name: "Call", exact: true }).click();
    },
    async open(browser, { role = "owner", width = 1200, dark = false } = {}) {
      const context = await newContext(browser, {
        viewport: { width, height: 900 },
        colorScheme: dark ? "dark" : "light",
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      await page.goto(link(role));
      await page.getByRole("heading", { level: 1 }).waitFor();
      return { page, context, complaints };
    },
  };
}

/** A browser with nobody in it. It is closed when the test has ended. */
export async function newContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
}

/** What the gateway of a suite has. */
interface Prepared {
  servers: Record<string, ServerConfig>;
  settings?: Partial<GatewaySettings>;
  more?: Partial<OpenGatewayOptions>;
}

/**
 * One gateway for all tests of a suite, in a directory of its own. `prepare` is asked before it starts. After a try that
 * failed, there is a new one, so that the next finds nothing of it.
 */
export function useGateway(
  prepare: (stateDir: string) => Prepared | Promise<Prepared>,
): Omit<TestGateway, "gateway"> & { readonly gateway: OpenedGateway } {
  let stateDir = "";
  let started: TestGateway | undefined;
  const start = async (): Promise<void> => {
    stateDir = mkdtempSync(join(tmpdir(), "plugboard-page-"));
    const { servers, settings, more } = await prepare(stateDir);
    started = await startGateway(stateDir, servers, settings, more);
  };
  const stop = async (): Promise<void> => {
    await started?.gateway.close();
    started = undefined;
    await removeDirectory(stateDir);
  };
  const running = (): TestGateway => {
    if (started === undefined) throw new Error("the gateway runs during the tests only");
    return started;
  };
  beforeAll(start);
  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    await stop();
    await start();
  });
  afterAll(stop);
  return {
    get gateway() {
      return running().gateway;
    },
    get origin() {
      return running().origin;
    },
    call: (...given) => running().call(...given),
    open: (...given) => running().open(...given),
  };
}

/** What axe finds wrong with the page as it is now. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Half a megabyte: once for each document.
  if ((await page.evaluate("typeof axe")) === "undefined") {
    const axe = fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url));
    await page.evaluate(await readFile(axe, "utf8"));
  }
  // Where an element stands among the others is not shown, and takes a quarter of the time.
  const run = 'axe.run({ resultTypes: ["violations"], selectors: false })';
  const { violations } = (await page.evaluate(run)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

/** What a page has saved, as text. */
export async function textOf(download: Download): Promise<string> {
  return text(await download.createReadStream());
}

export async function goTo(page: Page, view: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name: view }).click();
  await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe(view);
}
