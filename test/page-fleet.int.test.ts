// The page behind a load balancer that sends every request to another gateway than the one before.

import { once } from "node:events";
import { createServer, request as requestHttp } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openEngineState } from "../src/core/state/engines/open.ts";
import { fixture } from "./support/boards.ts";
import { axeViolations, describeInBrowser, startGateway } from "./support/browser.ts";
import { temporaryDirectory } from "./support/directory.ts";
import { type Engines, missingEngines, startEngines } from "./support/engines.ts";
import { freePorts } from "./support/free-ports.ts";
import { expectNoProcesses } from "./support/processes.ts";

const missing = missingEngines();
const why = missing === undefined ? "" : `, skipped: ${missing}`;

describeInBrowser("the page of several gateways", (browser) => {
  describe.skipIf(missing !== undefined)(`behind a load balancer${why}`, () => {
    let engines: Engines;
    beforeAll(async () => {
      engines = await startEngines();
    });
    afterAll(async () => {
      await engines.stop();
      expectNoProcesses();
    });

    it("makes calls, answers questions, looks at another gateway, and goes on when that is gone", async () => {
      const ports = await freePorts(2);
      const publicUrl = await startBalancer(ports);
      const settings = await engines.newSettings();
      const open = (port: number) => {
        const stateDir = temporaryDirectory();
        const shared = { ...settings, replica: { url: `http://127.0.0.1:${port}` } };
        const servers = { asks: fixture("asks") };
        const openState = () => openEngineState({ settings: shared, stateDir, isReplica: true });
        return startGateway(stateDir, servers, { port, shared, publicUrl }, { openState });
      };
      const [one, two] = [await open(ports[0] ?? 0), await open(ports[1] ?? 0)];
      const gateways = [one, two];
      onTestFinished(async () => {
        await Promise.all(gateways.map(({ gateway }) => gateway.close()));
      });
      const { page, context } = await one.open(browser());
      const [first = ""] = /http:\S+?:\d+/.exec(await lookedAt(page)) ?? [];
      const at = ports.findIndex((port) => first.endsWith(String(port)));
      const other = `http://127.0.0.1:${ports[1 - at]}`;

      const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
      await one.call(page, "asks/ask", { method: "elicitation/create", params });
      const question = page.getByRole("region", { name: "asks asks you" });
      await question.getByRole("button", { name: "Decline" }).click();
      const result = page.getByLabel("Structured content");
      await expect.poll(() => result.textContent()).toContain("decline");

      await page.goto(`${publicUrl}/ui/#/`);
      await page.getByRole("button", { name: "Look at it" }).click();
      await expect.poll(() => lookedAt(page)).toContain(`${other}, one of several`);
      // It is the same one after the page is loaded again.
      await page.reload();
      await expect.poll(() => lookedAt(page)).toContain(`${other}, one of several`);
      expect(await page.getByText("is gone").count()).toBe(0);

      await gateways[1 - at]?.gateway.close();
      const told = page.getByText(`${other} is gone. You now look at ${first}.`);
      await told.waitFor();
      expect(await lookedAt(page)).toContain(`${first}, one of several`);
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole("button", { name: "OK", exact: true }).click();
      expect(await told.count()).toBe(0);
      await context.close();
    });
  });
});

async function lookedAt(page: Page): Promise<string> {
  const text = page.getByRole("definition").filter({ hasText: "one of several" });
  return (await text.textContent()) ?? "";
}

/** Sends every request to the next one. Where nobody takes the connection, nothing was sent, and another gets it. */
async function startBalancer(ports: readonly number[]): Promise<string> {
  let turn = 0;
  const server = createServer((asked, reply) => {
    const chunks: Buffer[] = [];
    asked.on("data", (chunk: Buffer) => chunks.push(chunk));
    asked.once("end", () => {
      const send = (tries: number): void => {
        turn += 1;
        const { url: path, method, headers } = asked;
        const port = ports[turn % ports.length];
        const sent = requestHttp({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
          reply.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
          answer.once("aborted", () => reply.destroy());
          answer.pipe(reply);
        });
        sent.once("error", (error: NodeJS.ErrnoException) => {
          if (error.code === "ECONNREFUSED" && tries > 0) send(tries - 1);
          else reply.destroy();
        });
        reply.once("close", () => sent.destroy());
        sent.end(Buffer.concat(chunks));
      };
      send(ports.length);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
