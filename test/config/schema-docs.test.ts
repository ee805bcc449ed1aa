// The examples of docs/configuration.md do what it says they do, and its table has every key.

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../src/board.ts";
import { loadConfig } from "../../src/config/load.ts";
import { formatProblem } from "../../src/config/issue.ts";
import type { ServerConfig } from "../../src/model/server-config.ts";
import type { OAuthSettings } from "../../src/model/authorization.ts";
import { createPolicy } from "../../src/guard/policy.ts";
import { serverGuards } from "../../src/guard/server-guards.ts";
import { callOf, pass, refusal, subject } from "../guard/subjects.ts";
import { failure, writeConfig } from "./files.ts";

const page = await readFile(new URL("../../docs/configuration.md", import.meta.url), "utf8");

const [
  example = "",
  native = "",
  models = "",
  rules = "",
  _contents = "",
  sessions = "",
  mistakes = "",
  doubts = "",
] = blocks("json5");
const [mistakesOutput = "", doubtsOutput = ""] = blocks("text");
const [nativeModule = ""] = blocks("js");

/** Complete by its type, so a key that is added to it is missed in the table. */
const SERVER_KEYS: Record<keyof ServerConfig, true> = {
  enabled: true,
  transport: true,
  type: true,
  command: true,
  args: true,
  env: true,
  cwd: true,
  workingDir: true,
  url: true,
  headers: true,
  auth: true,
  oauth: true,
  tls: true,
  allowInsecure: true,
  allowPrivate: true,
  timeout: true,
  toolTimeout: true,
  restartOnCrash: true,
  maxRestarts: true,
  lazy: true,
  idleTimeout: true,
  keepAlive: true,
  scope: true,
  protocol: true,
  toolPrefix: true,
  include: true,
  tools: true,
  approval: true,
  pins: true,
  trusted: true,
  framing: true,
  resources: true,
  resourceFilter: true,
  resourceRefreshMs: true,
  roots: true,
  sampling: true,
  rateLimit: true,
  concurrency: true,
  maxResultBytes: true,
  maxMessageBytes: true,
  provenance: true,
};

/** Complete by its type, too. */
const OAUTH_KEYS: Record<keyof OAuthSettings, true> = {
  grant: true,
  clientId: true,
  clientSecret: true,
  privateKey: true,
  algorithm: true,
  clientMetadataUrl: true,
  scope: true,
  issuer: true,
  redirectUri: true,
};

function blocks(language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return Array.from(page.matchAll(pattern), ([, content = ""]) => content);
}

function tableOf(heading: string): string[][] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [body = ""] = section.split("\n## ");
  const rows = body.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe("the page on configuration", () => {
  it("has an example that loads without a warning", async () => {
    const file = await writeConfig(example);
    const { servers, warnings } = await loadConfig(file);
    expect(servers.map(({ name }) => name)).toEqual(["files", "memory"]);
    expect(warnings).toEqual([]);
    const research = await loadConfig(file, "research");
    expect(research.servers.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["files", true],
      ["memory", false],
      ["everything", true],
    ]);
  });

  it("has an example for the servers of sessions that loads without a warning", async () => {
    const { session, warnings } = await loadConfig(await writeConfig(sessions));
    expect(warnings).toEqual([]);
    expect(session?.settings).toMatchObject({ timeout: 20_000, approval: "destructive" });
  });

  it("has an example of native tools that a board can use", async () => {
    const file = await writeConfig(native);
    await writeFile(join(dirname(file), "tools.mjs"), nativeModule);
    const agent = await loadConfig(file);
    expect(agent.warnings).toEqual([]);
    await using board = await openBoard(agent);
    expect(board.tools()).toMatchObject([{ name: "today", label: "Today's date" }]);
    expect((await board.call("today")).isError).toBeUndefined();
  });

  it("has an example of models that loads without a warning", async () => {
    const { model, modelProviders, warnings } = await loadConfig(await writeConfig(models));
    expect(warnings).toEqual([]);
    expect(model).toBe("lab/qwen3-32b");
    expect(modelProviders).toMatchObject({ lab: { type: "openai-compatible" } });
  });

  it("shows the errors there are", async () => {
    const file = await writeConfig(mistakes);
    const { message } = await failure(() => loadConfig(file));
    expect(`${message.replaceAll(file, "/home/me/plugboard.json")}\n`).toBe(mistakesOutput);
  });

  it("shows the warnings there are", async () => {
    const file = await writeConfig(doubts);
    const { warnings } = await loadConfig(file);
    const lines = warnings.map((warning) => `${formatProblem(warning)}\n`).join("");
    expect(lines.replaceAll(file, "/home/me/plugboard.json")).toBe(doubtsOutput);
  });

  it("has a row for every key of a server", () => {
    const keys = tableOf("Server keys").map(([key = ""]) => key.replaceAll("`", ""));
    expect(keys).toEqual(Object.keys(SERVER_KEYS));
  });

  it("has a row for every key of oauth", () => {
    const keys = tableOf("oauth").map(([key = ""]) => key.replaceAll("`", ""));
    expect(keys).toEqual(Object.keys(OAUTH_KEYS));
  });

  it("has rules that do what it says", async () => {
    const file = await writeConfig(rules);
    const { servers, guard, warnings } = await loadConfig(file, "research");
    expect(warnings).toEqual([]);
    const policy = createPolicy({
      rules: guard?.rules,
      servers: serverGuards(servers),
      known: { servers, template: "mcp__{server}__{tool}" },
    });
    const judged = (name: string) => policy.judge(subject(name)).kind;
    expect(judged("files/read_file")).toBe("allowed");
    expect(judged("files/write_file")).toBe("refused");
    expect(judged("memory/search_nodes")).toBe("allowed");
    expect(judged("memory/delete_entities")).toBe("refused");
    const { stage } = policy;
    const { message } = await refusal(pass(stage, callOf(subject("files/write_file"))));
    expect(page).toContain(`\`${message}\``);
  });
});
