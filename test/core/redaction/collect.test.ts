import { describe, expect, it } from "vitest";
import type { ServerTarget } from "../../../src/core/types/server-definition.ts";
import { collectSecrets, namesInTarget } from "../../../src/core/redaction/collect.ts";

interface Parts {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  headers?: Record<string, string>;
}

function target({ command = "node", args = [], env = {}, url, headers = {} }: Parts): ServerTarget {
  if (url === undefined && Object.keys(headers).length === 0) {
    return { kind: "stdio", command, args, env };
  }
  const at = url ?? "https://docs.example/mcp";
  return { kind: "http", url: at, headers, allowInsecure: false, allowPrivate: false };
}

const ENV = {
  GITHUB_TOKEN: "abcdef123",
  A_KEY: "abcdef123",
  TOKEN: "abcdef123",
  USER: "me",
  ORG: "my-org:eu",
  AWS_REGION: "eu-west-1",
  DB_SECRET: "postgres://me:hunter22@h/x",
  HOME: "/home/someone",
  APP_CREDENTIALS: "/home/someone/a.json",
};

function collect(resolved: Parts, unresolved: Parts = resolved): string[] {
  const found = collectSecrets(target(unresolved), target(resolved), ENV);
  return found.map(({ value }) => value).sort();
}

const basic = Buffer.from("me:hunter22").toString("base64");

describe("headers", () => {
  it.each<[string, string, string[]]>([
    ["Authorization", "Bearer abcdef123", ["abcdef123"]],
    ["authorization", "bearer  abcdef123", ["abcdef123"]],
    ["Authorization", `Basic ${basic}`, [basic, "hunter22"].sort()],
    ["Authorization", `Basic ${Buffer.from("nocolon").toString("base64")}`, ["bm9jb2xvbg=="]],
    ["Authorization", "abcdef123", ["abcdef123"]],
    ["Authorization", "Custom abcdef123", ["abcdef123"]],
    ["X-API-Key", "Custom abcdef123", ["Custom abcdef123"]],
    ["Authorization", "AWS4-HMAC-SHA256 Credential=x", ["AWS4-HMAC-SHA256 Credential=x"]],
    ["Proxy-Authorization", "Bearer abcdef123", ["abcdef123"]],
    ["X-API-Key", "abcdef123", ["abcdef123"]],
    ["x-functions-key", "lowercasewords", ["lowercasewords"]],
    ["X-Auth-Token", "abcdef123", ["abcdef123"]],
    ["X-Auth", "Zx81Qw22", ["Zx81Qw22"]],
    ["X-Client-Secret", "abcdef123", ["abcdef123"]],
    ["CF-Access-Client-Secret", "abcdef123", ["abcdef123"]],
    ["X-MyAuthInfo", "Zx81Qw22", ["Zx81Qw22"]],
    ["Cookie", "sid=abcdef123; theme=dark; t=Zx81Qw22", ["Zx81Qw22", "abcdef123"]],
    ["X-API-Key", "short", ["short"]],
    ["X-Auth-Type", "oauth2", ["oauth2"]],
    ["Accept", "application/json", []],
    ["X-Author", "Jane Doe 123", ["Jane Doe 123"]],
    ["X-S", "s3cr3t", ["s3cr3t"]],
    ["X-S", "Bearer abcdefghijklm123", ["abcdefghijklm123"]],
    ["X-Region", "eu-west-1", ["eu-west-1"]],
    ["X-Max-Tokens", "100000", ["100000"]],
    ["accept", "application/json", []],
    ["Content-Type", "application/json", []],
    ["User-Agent", "plugboard/1.0", []],
    ["User-Agent", "token 1234567", []],
  ])("%s: %s", (name, value, secrets) => {
    expect(collect({ headers: { [name]: value } })).toEqual(secrets);
  });
});

describe("environment variables", () => {
  it.each<[string, string, string[]]>([
    ["GITHUB_TOKEN", "ghp_abcdef123", ["ghp_abcdef123"]],
    ["LINKEDIN_PASSWORD", "correct horse", ["correct horse"]],
    ["DB_PASS", "12345678", ["12345678"]],
    ["API_TOKEN", "  abcdef123\n", ["abcdef123"]],
    ["OPENAI_API_KEY", "sk-abcdef123", ["sk-abcdef123"]],
    ["AWS_SECRET_ACCESS_KEY", "/wJalrXUtn/FEMI", ["/wJalrXUtn/FEMI"]],
    ["BASIC_AUTH", "me:hunter22", ["hunter22", "me:hunter22"]],
    ["DATABASE_URL", "postgres://me:hunter22@db.example/x", ["hunter22"]],
    ["DATABASE_URL", "postgres://me:p%40ssw0rd@db.example/x", ["p%40ssw0rd", "p@ssw0rd"]],
    ["DATABASE_URL", "postgres://me:100%pure@db.example/x", ["100%pure"]],
    ["DATABASE_URL", "postgres://me:p@ssw0rd@db.example/x", ["p@ssw0rd"]],
    ["JDBC", "jdbc:mysql://me:hunter22@db.example/x", ["hunter22"]],
    ["MYSQL_DSN", "me:hunter22@tcp(db.example:3306)/x", ["hunter22"]],
    ["SENTRY_DSN", "https://0123456789abcdef0@o1.example/1", ["0123456789abcdef0"]],
    ["DB", "Server=db;User Id=me;Password=hunter22;", ["hunter22"]],
    ["DB", "host=db user=me password=hunter22", ["hunter22"]],
    ["DB_SECRET", "host=db user=me password=hunter22", ["hunter22"]],
    ["WEBHOOK_SECRET", "https://hooks.example/T0/B0/xyz", ["https://hooks.example/T0/B0/xyz"]],
    ["FEED", "https://feed.example/?api_key=abcdef123&page=2", ["abcdef123"]],
    [
      "ACCOUNT",
      '{"client_email":"a@b.example","private_key":"-----BEGIN-----\\nabc","private_key_id":"77aa88bb"}',
      ["-----BEGIN-----\nabc", "77aa88bb"],
    ],
    ["ACCOUNT_CREDENTIALS", '{"broken', ['{"broken']],
    [
      "CLIENT",
      '{"installed":{"client_secret":"abcdef123","auth_uri":"https://a.example"}}',
      ["abcdef123"],
    ],
    ["MCP_HEADERS", '{"Authorization":"Bearer abcdef123","X-Version":"2022-06-28"}', ["abcdef123"]],
    ["MCP_HEADERS", '[{"token":["abcdefghijk12345"]}]', ["abcdefghijk12345"]],
    [
      "SETTINGS",
      '"{\\"apiKey\\":\\"abcdef123\\",\\"db\\":\\"a://me:hunter22@db/x\\"}"',
      ["abcdef123", "hunter22"],
    ],
    ["SETTINGS", '{"key":"eu-west-1","token":true}', []],
    [
      "SETTINGS",
      '{"columns":[{"key":"FirstName"},{"key":"Last Name"}],"tokens":["Ethereum","USDCoin"]}',
      [],
    ],
    ["SETTINGS", '{"key":"abcdefghijk12345"}', ["abcdefghijk12345"]],
    ["SETTINGS", "[".repeat(50_000), []],
    ["SETTINGS", `${"[".repeat(5000)}"abcdef123"${"]".repeat(5000)}`, []],
    // Clients are given the whole header in a variable.
    ["AUTH_HEADER", "Bearer abcdefghijklm123", ["abcdefghijklm123"]],
    ["AUTHORIZATION", "Bearer abcdef123", ["abcdef123"]],
    ["LINKEDIN_PASSWORD", "key ofdavid", ["key ofdavid"]],
    ["PROMPT", "basic understanding of maths", []],
    ["HOME", "/home/someone", []],
    ["DATA_DIR", "/home/someone/data", []],
    ["GOOGLE_APPLICATION_CREDENTIALS", "/home/someone/account.json", []],
    ["TOKEN_FILE", "/run/secrets/token", []],
    ["SSH_AUTH_SOCK", "/tmp/agent.sock", []],
    ["AUTH_ENABLED", "true", []],
    ["USE_TOKEN", "false", []],
    ["MAX_TOKENS", "100000", []],
    ["TOKEN_LIMIT", "100000", []],
    ["AWS_REGION", "eu-central-1", []],
    ["AUTH", "enabled", []],
    ["KEY", "eu-west-1", []],
    ["DATABASE_URL", "postgres://db.example/x", []],
    ["DATABASE_URL", "postgres://me@db.example/x", []],
    ["SQLITE_DSN", "file:./data.db", []],
    ["LIST", "[1,2,3]", []],
    ["OPTIONS", "{}", []],
    ["TOKEN", "short", ["short"]],
    ["__proto__", "harmless", []],
  ])("%s=%s", (name, value, secrets) => {
    expect(collect({ env: { [name]: value } })).toEqual(secrets.sort());
  });
});

describe("addresses", () => {
  it.each<[string, string[]]>([
    ["https://a.example/mcp?api_key=abcdef123", ["abcdef123"]],
    ["https://a.example/mcp?x=1&token=abc%2Bdef1#top", ["abc%2Bdef1", "abc+def1"]],
    ["https://a.example/mcp?key=lowercase&sig=abcdef", ["abcdef", "lowercase"]],
    ["https://me:hunter22@a.example/mcp", ["hunter22"]],
    ["https://a.example/mcp?page=123456&region=eu-west-1&token", []],
    ["https://a.example/token/abcdef123", []],
  ])("%s", (url, secrets) => {
    expect(collect({ url })).toEqual(secrets.sort());
  });
});

describe("arguments", () => {
  it.each<[string[], string[]]>([
    [["--token=abcdef123"], ["abcdef123"]],
    [["--token", "abcdef123"], ["abcdef123"]],
    [["--api-key", "abcdef123", "--verbose"], ["abcdef123"]],
    [["-apikey", "abcdef123"], ["abcdef123"]],
    [["--apiKey=abcdef123"], ["abcdef123"]],
    [["--password", "correct horse"], ["correct horse"]],
    [
      ["--token:abcdef123", "/api-key:abcdef124"],
      ["abcdef123", "abcdef124"],
    ],
    [
      ["-u", "me:Zx81Qw22", "--user=me:Zx81Qw23"],
      ["Zx81Qw22", "Zx81Qw23"],
    ],
    [["-u", "1000:1000", "--user=root:root"], []],
    [["run", "-e", "API_KEY=abcdef123", "image:1.2"], ["abcdef123"]],
    [["run", "--env=API_KEY=abcdef123"], ["abcdef123"]],
    [["--header", "Authorization: Bearer abcdef123"], ["abcdef123"]],
    [["--header=Authorization:Bearer abcdef123"], ["abcdef123"]],
    [["-H", "X-API-Key: abcdef123"], ["abcdef123"]],
    [["postgres://me:hunter22@db.example/x"], ["hunter22"]],
    [["--db=postgres://me:hunter22@db.example/x"], ["hunter22"]],
    [["--token", "--verbose"], []],
    [["--key", "keys/client.pem"], []],
    [["--auth", "none"], []],
    [["--max-tokens", "100000"], []],
    [["--region", "eu-west-1", "abcdef123"], []],
    [["node:20-alpine@sha256:abcdef"], []],
    [["--header", "Accept: application/json"], []],
    [["--config", '{"a":{"apiKey":"abcdef123"}}'], ["abcdef123"]],
    [['--headers={"Authorization":"Bearer abcdef123"}'], ["abcdef123"]],
    [["server.js", "/home/someone"], []],
    [["--token"], []],
  ])("%j", (args, secrets) => {
    expect(collect({ args })).toEqual(secrets);
  });
});

describe("references", () => {
  it.each<[string, Parts, Parts, string[]]>([
    [
      "secret:// anywhere",
      { env: { MODE: "s3cr3t-mode" } },
      { env: { MODE: "secret://env/MODE" } },
      ["s3cr3t-mode"],
    ],
    [
      "secret:// in a header",
      { headers: { "X-Team": "blue-team" } },
      { headers: { "X-Team": "secret://gcp/team" } },
      ["blue-team"],
    ],
    ["secret:// as an argument", { args: ["abcdef"] }, { args: ["secret://file/x"] }, ["abcdef"]],
    ["secret:// in braces", { args: ["abcdef"] }, { args: ["${secret://file/x}"] }, ["abcdef"]],
    ["1Password's own", { args: ["abcdef"] }, { args: ["op://a/b/c"] }, ["abcdef"]],
    // The secret is known by itself; what is around it is no secret.
    ["secret:// inside a text", { env: { A: "a b" } }, { env: { A: "a ${secret://x/y}" } }, []],
    [
      "a token's variable",
      { env: { GH: "abcdef123" } },
      { env: { GH: "${GITHUB_TOKEN}" } },
      ["abcdef123"],
    ],
    [
      "in an address",
      { url: "https://a.example/k/abcdef123/mcp" },
      { url: "https://a.example/k/${A_KEY}/mcp" },
      ["abcdef123"],
    ],
    [
      "beside others",
      { args: ["me/abcdef123@eu-west-1"] },
      { args: ["${USER}/${TOKEN:-x}@${AWS_REGION}"] },
      ["abcdef123"],
    ],
    ...["${ORG}-${TOKEN}", "${ORG}:${TOKEN}", "${ORG}${TOKEN}", "${TOKEN}-${ORG}"].map(
      (written): [string, Parts, Parts, string[]] => [
        `beside one with the same characters: ${written}`,
        { args: [written.replace("${ORG}", ENV.ORG).replace("${TOKEN}", ENV.TOKEN)] },
        { args: [written] },
        ["abcdef123"],
      ],
    ),
    [
      "a long value without any",
      { env: { CONF: "x".repeat(60_000) } },
      { env: { CONF: "x".repeat(60_000) } },
      [],
    ],
    ["in the command", { command: "run-abcdef123" }, { command: "run-${TOKEN}" }, ["abcdef123"]],
    [
      "a variable of a connection",
      { args: ["postgres://me:hunter22@h/x"] },
      { args: ["${DB_SECRET}"] },
      ["hunter22"],
    ],
    [
      "an ordinary variable",
      { env: { DIR: "/home/someone/x" } },
      { env: { DIR: "${HOME}/x" } },
      [],
    ],
    [
      "a path in a credential's variable",
      { args: ["/home/someone/a.json"] },
      { args: ["${APP_CREDENTIALS}"] },
      [],
    ],
    ["no reference", { args: ["${TOKEN}"] }, { args: ["$${TOKEN}"] }, []],
    ["a target that changed", { args: ["a", "--token=abcdef123"] }, {}, ["abcdef123"]],
    [
      "a target of another kind",
      { env: { TOKEN: "abcdef123" } },
      { url: "https://a.example" },
      ["abcdef123"],
    ],
    ["the other way", { url: "https://a.example?token=abcdef123" }, {}, ["abcdef123"]],
  ])("%s", (_, resolved, unresolved, secrets) => {
    expect(collect(resolved, unresolved)).toEqual(secrets);
  });
});

describe("a credential", () => {
  it.each<[Parts, string, string, string[]]>([
    [{ env: { DB_PASS: "pw" } }, "pw", "env.DB_PASS", ["DB_PASS=pw"]],
    [{ args: ["postgres://me:pw@db/x"] }, "pw", "args", [":pw@"]],
    [{ args: ["--password", "pw"] }, "pw", "args", ["password pw"]],
    [{ args: ["--password=pw"] }, "pw", "args", ["password=pw"]],
    [{ args: ["host=db password=pw"] }, "pw", "args", ["password=pw"]],
    [{ url: "https://a.example/?api_key=pw" }, "pw", "url", ["api_key=pw"]],
    [{ headers: { "X-API-Key": "pw" } }, "pw", "headers.X-API-Key", ["X-API-Key: pw"]],
  ])("of %j is known with its place and what stands around it", (parts, value, place, phrases) => {
    const [found] = collectSecrets(target(parts), target(parts), {});
    expect(found).toMatchObject({ value, place });
    expect(found?.phrases).toEqual(expect.arrayContaining(phrases));
  });
});

describe("names", () => {
  it.each<[Parts, string[]]>([
    [{ command: "/usr/bin/psql-server" }, ["psql-server"]],
    [{ args: ["postgres://ada:pw@db.example:5432/shop"] }, ["ada", "db.example", "node", "shop"]],
    [{ args: ["--database=shop", "--user", "ada"] }, ["ada", "node", "shop"]],
    [{ env: { PGUSER: "ada", PGDATABASE: "shop", PGPASSWORD: "pw" } }, ["ada", "node", "shop"]],
    // The path of a web address may be a key.
    [{ url: "https://docs.example/mcp" }, ["docs.example"]],
    [{ args: ["acme-mcp-server", "correct-horse"] }, ["node"]],
    [{ env: { TOKEN_DB: "correct-horse" } }, ["node"]],
    // A user without a password may be a token, and what looks random is no name.
    [{ args: ["https://ghptoken@github.example/x"] }, ["github.example", "node"]],
    [{ args: ["https://a1b2c3d4:x@h.example/"] }, ["h.example", "node"]],
    [{ env: { USER: "Zx81Qw22Kk" } }, ["node"]],
  ])("in %j are %j", (parts, names) => {
    expect(namesInTarget(target(parts), target(parts)).sort()).toEqual(names);
  });

  it("are not what a credential's variable holds", () => {
    const resolved = target({ args: ["--user", "correct-horse"], env: { DB_HOST: "battery" } });
    const before = target({ args: ["--user", "${TOKEN}"], env: { DB_HOST: "${A_KEY}" } });
    expect(namesInTarget(before, resolved)).toEqual(["node"]);
  });
});
