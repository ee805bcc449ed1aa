// Starts the Chromium of a test run, once for all tests of the page, and ends it with the run. Without one on this machine,
// nothing is provided, and those tests are skipped.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where it can be reached. */
    chromium?: string;
  }
}

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = [process.env["CHROMIUM"], ...PLACES].find(
  (path) => path !== undefined && existsSync(path),
);

/**
 * Three that start processes which no test needs, for each window of a test: two that render what an address bar would show,
 * half a second each, and a spare one. Then Playwright's own, since Chromium forgets them for a second list.
 */
const WITHOUT = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "SpareRendererForSitePerProcess",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
];

/** Nothing but the page itself asks for anything. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${WITHOUT.join(",")}`,
];

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  if (executablePath === undefined) return;
  const server = await chromium.launchServer({ executablePath, args: ARGS, host: "127.0.0.1" });
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
