import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { findOpenclaw, type OpenclawAgent } from "../../../src/openclaw/front/openclaw-agent.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let homedir: string;

beforeEach(async () => {
  homedir = temporaryDirectory();
  await mkdir(join(homedir, ".openclaw"));
});

const CONFIG = `{
  // As OpenClaw writes it, and people edit it.
  gateway: { port: 19001, auth: { token: "from-config" } },
}`;

async function find(
  config: string | undefined,
  env: Record<string, string> = {},
  url?: string,
): Promise<OpenclawAgent> {
  const file = join(homedir, ".openclaw", "openclaw.json");
  if (config !== undefined) await writeFile(file, config);
  return findOpenclaw({ url, platform: "linux", env, homedir, cwd: homedir });
}

test.each<[string, string | undefined, Record<string, string>, string | undefined, OpenclawAgent]>([
  ["nothing", undefined, {}, undefined, { address: { url: "ws://127.0.0.1:18789" }, env: {} }],
  [
    "OpenClaw's file, which it reads itself too",
    CONFIG,
    {},
    undefined,
    { address: { url: "ws://127.0.0.1:19001", token: "from-config" }, env: {} },
  ],
  [
    "an address, with the token of the file",
    CONFIG,
    {},
    "ws://127.0.0.1:5",
    {
      address: { url: "ws://127.0.0.1:5", token: "from-config" },
      env: {
        OPENCLAW_GATEWAY_URL: "ws://127.0.0.1:5",
        OPENCLAW_GATEWAY_TOKEN: "from-config",
      },
    },
  ],
  [
    "an address, with the token of the environment",
    CONFIG,
    { OPENCLAW_GATEWAY_TOKEN: "from-env" },
    "ws://localhost:5",
    {
      address: { url: "ws://localhost:5", token: "from-env" },
      env: { OPENCLAW_GATEWAY_URL: "ws://localhost:5", OPENCLAW_GATEWAY_TOKEN: "from-env" },
    },
  ],
  [
    "an address, with the password of the environment",
    undefined,
    { OPENCLAW_GATEWAY_PASSWORD: "word" },
    "ws://[::1]:5",
    {
      address: { url: "ws://[::1]:5", password: "word" },
      env: { OPENCLAW_GATEWAY_URL: "ws://[::1]:5", OPENCLAW_GATEWAY_PASSWORD: "word" },
    },
  ],
])("the gateway is found by %s", async (_, config, env, url, expected) => {
  expect(await find(config, env, url)).toEqual(expected);
});

test.each<[string, string | undefined, string | undefined, string]>([
  ["one on another machine", undefined, "ws://10.0.0.1:5", "is on another machine"],
  [
    "one on another machine, in the file",
    '{ gateway: { mode: "remote", remote: { url: "wss://far.example" } } }',
    undefined,
    "the gateway of OpenClaw at wss://far.example is on another machine",
  ],
  [
    "a page",
    undefined,
    "http://127.0.0.1:5",
    "'http://127.0.0.1:5' is not the address of a gateway",
  ],
  [
    "an address with a password",
    undefined,
    "ws://me:hunter2@127.0.0.1:5",
    "the address of OpenClaw's gateway has a name or a password in it",
  ],
  ["no address", undefined, "5", "'5' is not the address of a gateway"],
  ["a file that is not valid", "{ gateway: ", undefined, "openclaw.json"],
])("%s is refused", async (_, config, url, message) => {
  await expect(find(config, {}, url)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(message),
    hint: expect.not.stringContaining("hunter2"),
  });
});
