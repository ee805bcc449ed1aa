// Signing in through `plugboard acp`: in the browser when the editor asks, and in a terminal with `--sign-in`.

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ModelKeyFile } from "../../../src/core/state/model-key-file.ts";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { startOAuth } from "../../fixtures/oauth/oauth.ts";
import { fixture } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
afterEach(closeAll);

const CONSENT = new URL("../../fixtures/oauth/consent.mjs", import.meta.url).href;

let browser = "";
beforeEach(async () => {
  const program = `#!${process.execPath}\nimport(${JSON.stringify(CONSENT)});\n`;
  browser = scratch.file("browser.mjs", program);
  chmodSync(browser, 0o755);
  const oauth = owned(await startOAuth());
  scratch.servers({ docs: { url: oauth.url }, echo: fixture("echo") });
});

/** What `initialize` and then `authenticate` are answered with, as JSON text from the wire. */
async function authenticate(env: Record<string, string>) {
  const stdin = new PassThrough();
  const stdout = new Sink();
  const home = { HOME: scratch.directory, SHELL: "/bin/sh" };
  const running = scratch.start(["acp"], { stdin, stdout, env: { ...home, ...env } });
  const clientCapabilities = { auth: { terminal: true } };
  const requests = [
    ["initialize", { protocolVersion: 1, clientCapabilities }],
    ["authenticate", { methodId: "sign-in" }],
  ] as const;
  for (const [id, [method, params]] of requests.entries()) {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await eventually(() => stdout.text.split("\n").length === id + 2);
  }
  stdin.end();
  const { code, stderr } = await running.done;
  const answers = stdout.text.trimEnd().split("\n");
  return { code, stderr, answers: answers.map((line) => JSON.parse(line)) };
}

describe("the editor", () => {
  it("is offered both methods, and opens the browser with one of them", async () => {
    const { code, stderr, answers } = await authenticate({ BROWSER: browser });
    expect(answers[0].result.authMethods).toMatchObject([
      { type: "agent", id: "sign-in" },
      { type: "terminal", id: "sign-in-terminal", args: ["--sign-in"] },
      { type: "terminal", id: "model-key-terminal", args: ["--sign-in", "model"] },
    ]);
    expect(answers[1].result).toMatchObject({
      _meta: { plugboard: { message: "signed in to docs" } },
    });
    expect(stderr).toContain("Opening a browser to sign in to docs");
    expect(code).toBe(0);
  });

  it("is told what to run if no browser can be opened", async () => {
    const { answers } = await authenticate({ BROWSER: "/nonexistent/browser" });
    expect(answers[1].error.message).toMatch(/docs: .*no browser could be opened/);
    expect(answers[1].error.message).toContain("run: plugboard login docs");
  });
});

describe("beside a gateway that runs", () => {
  it.each([
    ["the editor", async () => (await authenticate({ BROWSER: browser })).answers[1].result],
    ["a terminal", () => scratch.run(["acp", "--sign-in"], { env: { BROWSER: browser } })],
  ])("%s signs in for the gateway too", async (_, signIn) => {
    await scratch.up();
    expect(JSON.stringify(await signIn())).toContain("signed in to docs");
    const called = await scratch.run(["call", "docs/echo", "text=hi"]);
    expect(called).toMatchObject({ code: 0, stdout: "hi\n", stderr: "" });
  });
});

describe("plugboard acp --sign-in", () => {
  it("signs in to every server that asks for it, then to none", async () => {
    const first = await scratch.run(["acp", "--sign-in"], { env: { BROWSER: browser } });
    expect([first.code, first.stdout]).toEqual([0, "signed in to docs\n"]);
    await new ModelKeyFile(join(scratch.directory, "home")).store("openai", {
      kind: "key",
      key: "sk-0123456789abcdef",
    });
    const second = await scratch.run(["acp", "--sign-in"], { env: { BROWSER: browser } });
    expect([second.code, second.stdout]).toEqual([0, "no server asks for a sign-in\n"]);
    expect(second.stderr).toContain("a key for openai is stored; to replace or forget it:");
    expect(second.stderr).toContain("plugboard acp --sign-in model");
  });
});
