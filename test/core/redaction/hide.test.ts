import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { describeTarget, withoutCredentials } from "../../../src/core/redaction/hide.ts";

describe("how a server is started, without credentials", () => {
  it.each<[string[], string]>([
    [["server.js", "--verbose"], "server.js --verbose"],
    [["postgres://postgres:postgres@db/postgres"], "postgres://postgres:[REDACTED]@db/postgres"],
    [["postgres://me:p@ss@db/x"], "postgres://me:[REDACTED]@db/x"],
    [["me:pw@tcp(db:3306)/x"], "me:[REDACTED]@tcp(db:3306)/x"],
    [["--db=postgres://me:pw@db/x"], "--db=postgres://me:[REDACTED]@db/x"],
    [["--token", "abc", "run"], "--token [REDACTED] run"],
    [["--token=abc"], "--token=[REDACTED]"],
    [["-e", "API_KEY=abc"], "-e API_KEY=[REDACTED]"],
    [["--env=API_KEY=abc"], "--env=API_KEY=[REDACTED]"],
    [["--header", "Authorization: Bearer abc"], "--header Authorization: [REDACTED]"],
    [["host=db user=me password=pw"], "host=db user=me password=[REDACTED]"],
    [["Server=db;Password=pw;"], "Server=db;Password=[REDACTED];"],
    [['{"a":{"apiKey":"abc"},"b":1}'], '{"a":{"apiKey":"[REDACTED]"},"b":1}'],
    [
      ['--headers={"Authorization": "Bearer abc"}'],
      '--headers={"Authorization": "Bearer [REDACTED]"}',
    ],
    [['"{\\"token\\":\\"abc\\"}"'], '"{\\"token\\":\\"[REDACTED]\\"}"'],
    [
      ['{"db":"a://me:pw@db/x","of":"x?token=1"}'],
      '{"db":"a://me:[REDACTED]@db/x","of":"x?token=1"}',
    ],
    // In lists, too.
    [['["https://x/?api_key=abc", 5, "b"]'], '["https://x/?api_key=[REDACTED]", 5, "b"]'],
    [
      ['{"tokens": ["a8f7c9d3e1b24f6a", "all"], "of": ["a8f7c9d3e1b24f6a"]}'],
      '{"tokens": ["[REDACTED]", "all"], "of": ["a8f7c9d3e1b24f6a"]}',
    ],
    [['["a", ":", "token"]'], '["a", ":", "token"]'],
    [["[::1]:80?token=abc"], "[::1]:80?token=[REDACTED]"],
    // References are not the value.
    [
      ['{"Authorization":"Bearer ${T}","token":"${T}"}'],
      '{"Authorization":"Bearer ${T}","token":"${T}"}',
    ],
    [["--token", "${TOKEN}"], "--token ${TOKEN}"],
    [["postgres://me:${PW}@db/x"], "postgres://me:${PW}@db/x"],
    [["-e", "API_KEY=${KEY}"], "-e API_KEY=${KEY}"],
    // As programs of Windows and curl take them, and tokens in place of a user.
    [["--token:abc", "/api-key:abc", "/c:/x"], "--token:[REDACTED] /api-key:[REDACTED] /c:/x"],
    [["-u", "me:x7Kp"], "-u me:[REDACTED]"],
    [["--user=me:x7Kp"], "--user=me:[REDACTED]"],
    [["-u", "1000:1000", "--user=root:root"], "-u 1000:1000 --user=root:root"],
    [["-u", "me:${PW}"], "-u me:${PW}"],
    [["git+https://x7KpQ2mW9sLr4TvZ@git.example/a"], "git+https://[REDACTED]@git.example/a"],
    [["ssh://a-long-user-name@git.example/a"], "ssh://a-long-user-name@git.example/a"],
    [["--region=eu-west-1", "--max-tokens", "100"], "--region=eu-west-1 --max-tokens 100"],
  ])("%j", (args, shown) => {
    const target = { kind: "stdio" as const, command: "run", args, env: {} };
    expect(describeTarget(target)).toBe(`run ${shown}`);
  });

  it.each([
    ["https://a.example/mcp", "https://a.example/mcp"],
    ["https://me:pw@a.example/mcp", "https://me:[REDACTED]@a.example/mcp"],
    ["https://a.example/mcp?api_key=abc&page=2", "https://a.example/mcp?api_key=[REDACTED]&page=2"],
    ["https://a.example/mcp?key=${KEY}#top", "https://a.example/mcp?key=${KEY}#top"],
  ])("%s", (url, shown) => {
    const common = { headers: {}, allowInsecure: false, allowPrivate: false };
    expect(describeTarget({ kind: "http", url, ...common })).toBe(shown);
  });

  it("is no id that only the editor knows", () => {
    expect(describeTarget({ kind: "acp", serverId: "shop:6d3b" })).toBe("in the editor");
  });
});

const ORIGIN = {
  kind: "registry" as const,
  registry: "https://registry.example",
  name: "io.github.someone/docs",
  version: "1.0.0",
  hash: `sha256-${"0".repeat(64)}`,
};

describe("a server as it is written, without credentials", () => {
  it.each<[ServerConfig, ServerConfig]>([
    [
      { command: "run", provenance: { ...ORIGIN, inputs: { API_KEY: ["abc"], REGION: ["eu"] } } },
      {
        command: "run",
        provenance: { ...ORIGIN, inputs: { API_KEY: ["[REDACTED]"], REGION: ["eu"] } },
      },
    ],
    [
      { command: "run", args: ["--token", "abc"], env: { API_KEY: "abc", REGION: "eu-west-1" } },
      {
        command: "run",
        args: ["--token", "[REDACTED]"],
        env: { API_KEY: "[REDACTED]", REGION: "eu-west-1" },
      },
    ],
    [
      { command: "run", env: { API_KEY: "${KEY}", DB_URL: "postgres://me:pw@db/x" } },
      { command: "run", env: { API_KEY: "${KEY}", DB_URL: "postgres://me:[REDACTED]@db/x" } },
    ],
    [
      {
        url: "https://a.example/mcp?api_key=abc",
        headers: { Authorization: "Bearer abc", "X-Api-Key": "abc", Accept: "text/plain" },
      },
      {
        url: "https://a.example/mcp?api_key=[REDACTED]",
        headers: {
          Authorization: "Bearer [REDACTED]",
          "X-Api-Key": "[REDACTED]",
          Accept: "text/plain",
        },
      },
    ],
    // Of a credential in words, the first word is not a scheme.
    [
      {
        url: "https://a.example/",
        headers: { Authorization: "Custom abc", "X-Api-Key": "correct horse", "X-Auth": "Key abc" },
      },
      {
        url: "https://a.example/",
        headers: {
          Authorization: "Custom [REDACTED]",
          "X-Api-Key": "[REDACTED]",
          "X-Auth": "Key [REDACTED]",
        },
      },
    ],
    // A header of any name may identify the caller.
    [
      {
        url: "https://a.example/",
        headers: {
          "X-Bypass": "a8f7c9d3e1b24f6a",
          "X-Who": "Bearer a8f7c9d3e1b24f6a",
          "X-Region": "eu-west-1-with-long-name",
          "X-Version": "2022-06-28",
          "User-Agent": "abcdefghij/1.2.3-a8f7c9d3",
        },
      },
      {
        url: "https://a.example/",
        headers: {
          "X-Bypass": "[REDACTED]",
          "X-Who": "Bearer [REDACTED]",
          "X-Region": "eu-west-1-with-long-name",
          "X-Version": "2022-06-28",
          "User-Agent": "abcdefghij/1.2.3-a8f7c9d3",
        },
      },
    ],
    [
      { url: "https://a.example/", headers: { Authorization: "Bearer ${TOKEN}" } },
      { url: "https://a.example/", headers: { Authorization: "Bearer ${TOKEN}" } },
    ],
    [
      {
        url: "https://a.example/",
        auth: { type: "bearer", token: "abc" },
        oauth: { clientId: "me", clientSecret: "abc", privateKey: "./key.pem" },
      },
      {
        url: "https://a.example/",
        auth: { type: "bearer", token: "[REDACTED]" },
        oauth: { clientId: "me", clientSecret: "[REDACTED]", privateKey: "./key.pem" },
      },
    ],
    [
      { url: "https://a.example/", auth: { type: "api-key", key: "secret://env/KEY" } },
      { url: "https://a.example/", auth: { type: "api-key", key: "secret://env/KEY" } },
    ],
  ])("%j", (server, shown) => {
    expect(withoutCredentials(server)).toEqual(shown);
  });
});
