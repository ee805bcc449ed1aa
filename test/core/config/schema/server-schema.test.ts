import { describe, expect, it } from "vitest";
import { messagesOf } from "../files.ts";

/** The server under test stands on line 6, its keys on line 7. */
function server(keys: string): string {
  return `{
  agents: {
    defaults: {
      mcp: {
        servers: {
          docs: {
            ${keys}
          },
        },
      },
    },
  },
}`;
}

const DOCS = "agents.defaults.mcp.servers.docs";
const RUN = 'command: "run", ';

describe("a wrong server", () => {
  it.each([
    ["comand: 'x'", `7:13  ${DOCS}.comand  unknown key; did you mean "command"?`],
    [`${RUN}Timeout: 1`, `7:29  ${DOCS}.Timeout  unknown key; did you mean "timeout"?`],
    [`${RUN}colour: 1`, `7:29  ${DOCS}.colour  unknown key`],
    [`${RUN}disabled: true`, `7:29  ${DOCS}.disabled  unknown key; use "enabled"`],
    [`${RUN}constructor: 1`, `7:29  ${DOCS}.constructor  unknown key`],
    [`${RUN}__proto__: {}`, `7:29  ${DOCS}.__proto__  unknown key`],
    [`${RUN}"a b\\u202e": 1`, `7:29  ${DOCS}["a b\\u{202e}"]  unknown key`],
    ["", `6:11  ${DOCS}  has neither "command" nor "url"; expected one of them`],
    [
      `${RUN}url: "https://example.com"`,
      `6:11  ${DOCS}  has both "command" and "url"; expected one of them, or a "transport"`,
    ],
    ["transport: 'stdio'", `6:11  ${DOCS}  has the transport stdio and no "command"; expected one`],
    ["type: 'sse'", `6:11  ${DOCS}  has the transport sse and no "url"; expected one`],
    [`${RUN}transport: "http"`, `6:11  ${DOCS}  has the transport http and no "url"; expected one`],
    [
      `${RUN}transport: "htp"`,
      `7:40  ${DOCS}.transport  is "htp"; expected one of stdio, http, sse, streamable-http; did you mean "http"?`,
    ],
    [
      `${RUN}transport: "acp"`,
      `7:40  ${DOCS}.transport  is for servers in an editor, which only the editor itself can bring into a session; expected one of stdio, http, sse, streamable-http`,
    ],
    [
      `${RUN}transport: "stdio", type: "sse"`,
      `7:55  ${DOCS}.type  contradicts "transport"; expected only one of them`,
    ],
    [
      `${RUN}cwd: "a", workingDir: "b"`,
      `7:51  ${DOCS}.workingDir  contradicts "cwd"; expected only one of them`,
    ],
    [
      `url: "https://a.b", oauth: { per: "user", grant: "client_credentials" }`,
      `7:47  ${DOCS}.oauth.per  contradicts the grant "client_credentials", which everybody would use; expected only one of them`,
    ],
    [
      `url: "https://a.b", headers: { authorization: "Bearer \${T}" }, oauth: { per: "user" }`,
      `7:90  ${DOCS}.oauth.per  contradicts an Authorization header in "headers", which everybody would use; expected only one of them`,
    ],
    [
      `url: "https://a.b", auth: { type: "bearer", token: "x" }, oauth: { grant: "token_exchange", clientId: "a", issuer: "https://c.d" }`,
      `7:87  ${DOCS}.oauth.grant  contradicts "auth", which everybody would use; expected only one of them`,
    ],
    [
      `url: "https://a.b", oauth: { grant: "token_exchange", issuer: "https://c.d" }`,
      `7:33  ${DOCS}.oauth  needs clientId: who exchanges the tokens`,
    ],
    [
      `url: "https://a.b", oauth: { grant: "token_exchange", clientId: "a" }`,
      `7:33  ${DOCS}.oauth  needs issuer or tokenEndpoint: where callers' tokens are sent is not for the server to say`,
    ],
    [
      `url: "https://a.b", oauth: { grant: "token_exchange", clientId: "a", tokenEndpoint: "http://c.d/token" }`,
      `7:97  ${DOCS}.oauth.tokenEndpoint  is plain http; expected https, or http on this machine`,
    ],
    [
      `url: "https://a.b", oauth: { grant: "token_exchange", clientId: "a", issuer: "https://c.d", redirectUri: "http://127.0.0.1/" }`,
      `7:105  ${DOCS}.oauth.redirectUri  contradicts "grant": "token_exchange": nobody signs in`,
    ],
    [
      `url: "https://a.b", oauth: { per: "user", audience: "x" }`,
      `7:55  ${DOCS}.oauth.audience  is only for "grant": "token_exchange"`,
    ],
    [
      "command: ''",
      `7:22  ${DOCS}.command  is an empty string; expected a string that is not empty`,
    ],
    ["command: ['x']", `7:22  ${DOCS}.command  is a list; expected a string`],
    ["command: null", `7:22  ${DOCS}.command  is null; expected a string`],
    [`${RUN}args: "x"`, `7:35  ${DOCS}.args  is a string; expected a list`],
    [`${RUN}args: ["x", 1]`, `7:41  ${DOCS}.args[1]  is a number; expected a string`],
    [`${RUN}args: ["a\\0b"]`, `7:36  ${DOCS}.args[0]  has a NUL character in it`],
    [`${RUN}env: []`, `7:34  ${DOCS}.env  is a list; expected an object`],
    [`${RUN}env: { A: 5 }`, `7:39  ${DOCS}.env.A  is a number; expected a string`],
    [
      `${RUN}env: { __proto__: {} }`,
      `7:47  ${DOCS}.env.__proto__  is an object; expected a string`,
    ],
    [
      `${RUN}env: { "A=B": "" }`,
      `7:36  ${DOCS}.env["A=B"]  is not a name for a variable; expected one without "=" and control characters`,
    ],
    [
      `${RUN}env: { A: "x\${" }`,
      `7:39  ${DOCS}.env.A  has "\${" without a closing "}" at character 2; expected \${NAME}, \${NAME:-default} or \${secret://…}, or $\${ for a literal \${`,
    ],
    [
      `${RUN}env: { A: "secret://gpc/x" }`,
      `7:39  ${DOCS}.env.A  names the unknown secret provider "gpc"; expected env, file, exec, gcp, aws, vault, azure, op or keyring; did you mean "gcp"?`,
    ],
    [
      `${RUN}env: { A: "secret://zebras/x" }`,
      `7:39  ${DOCS}.env.A  names the unknown secret provider "zebras"; expected env, file, exec, gcp, aws, vault, azure, op or keyring`,
    ],
    ...[
      "secret://gcp",
      "secret://gcp/",
      "secret:///x",
      "secret:/gcp/x",
      "SECRET://gcp/x",
      "secret://gcp/a\\u0001b",
      "secret://gcp/ a",
      "secret://gcp/a#",
      "secret://gcp/#a",
      "op://",
    ].map((reference): [string, string] => [
      `${RUN}env: { A: "${reference}" }`,
      `7:39  ${DOCS}.env.A  is a malformed secret reference; expected secret://<provider>/<path>, perhaps with #<key>`,
    ]),
    [
      `url: "https://example.com", headers: { A: "Bearer secret://gcp/x" }`,
      `7:55  ${DOCS}.headers.A  has a secret:// reference inside other text; expected it as \${secret://…}, or as the whole value`,
    ],
    [
      `${RUN}env: { A: "a \${secret://gcp} b" }`,
      `7:39  ${DOCS}.env.A  has a malformed secret reference at character 3; expected \${NAME}, \${NAME:-default} or \${secret://…}, or $\${ for a literal \${`,
    ],
    [
      `${RUN}env: { A: "a \${secret://gpc/x}" }`,
      `7:39  ${DOCS}.env.A  names the unknown secret provider "gpc"; expected env, file, exec, gcp, aws, vault, azure, op or keyring; did you mean "gcp"?`,
    ],
    [
      `${RUN}env: { A: "\${X:-secret://gcp/x}" }`,
      `7:39  ${DOCS}.env.A  has a secret reference as the default of a variable; expected one of them`,
    ],
    ...["cwd", "workingDir"].map((key): [string, string] => [
      `${RUN}${key}: "secret://gcp/x"`,
      `7:${31 + key.length}  ${DOCS}.${key}  is a secret; expected a path`,
    ]),
    [
      `url: "https://example.com", auth: { type: "bearer", token: "secret://gcp/\${X}" }`,
      `7:72  ${DOCS}.auth.token  has a variable inside a secret reference; expected a reference without`,
    ],
    [`command: "\${secret://gcp/x}"`, `7:22  ${DOCS}.command  is a secret; expected a path`],
    [
      `url: "https://example.com", tls: { key: "secret://gcp/x" }`,
      `7:53  ${DOCS}.tls.key  is a secret; expected a path`,
    ],
    [
      `url: "https://example.com", headers: { "A B": "x" }`,
      `7:52  ${DOCS}.headers["A B"]  is not a name for a header; expected letters, digits and hyphens`,
    ],
    [
      `url: "https://example.com", headers: { A: "x\\ny" }`,
      `7:55  ${DOCS}.headers.A  has a line break in it; expected a single line`,
    ],
    [
      "url: 'example.com'",
      `7:18  ${DOCS}.url  is not a URL; expected one such as https://example.com/mcp`,
    ],
    ["url: 'file:///etc'", `7:18  ${DOCS}.url  has the scheme "file"; expected "https" or "http"`],
    [
      "url: 'https://me:pass@example.com'",
      `7:18  ${DOCS}.url  has a user name or password in it; expected them in headers`,
    ],
    [
      "url: 'https://example.com', auth: { type: 'basic' }",
      `7:55  ${DOCS}.auth.type  is "basic"; expected one of bearer, api-key`,
    ],
    [
      "url: 'https://example.com', auth: { type: {} }",
      `7:55  ${DOCS}.auth.type  is an object; expected one of bearer, api-key`,
    ],
    [
      "url: 'https://example.com', auth: 'x'",
      `7:47  ${DOCS}.auth  is a string; expected an object { type: "bearer", token } or { type: "api-key", key }`,
    ],
    [
      "url: 'https://example.com', auth: { type: 'bearer' }",
      `7:41  ${DOCS}.auth.token  is missing; expected a string`,
    ],
    [
      "url: 'https://example.com', tls: { crt: 'x' }",
      `7:48  ${DOCS}.tls.crt  unknown key; did you mean "cert"?`,
    ],
    [
      "url: 'https://example.com', tls: { pfx: 'x' }",
      `7:48  ${DOCS}.tls.pfx  unknown key; expected ca, cert or key`,
    ],
    [
      "url: 'https://example.com', oauth: 1",
      `7:48  ${DOCS}.oauth  is a number; expected true, false or an object`,
    ],
    [
      "url: 'https://example.com', oauth: { clientID: 'x' }",
      `7:50  ${DOCS}.oauth.clientID  unknown key; did you mean "clientId"?`,
    ],
    [
      "url: 'https://example.com', oauth: { grant: 'password' }",
      `7:57  ${DOCS}.oauth.grant  is "password"; expected one of authorization_code, client_credentials, token_exchange`,
    ],
    [
      "url: 'https://example.com', oauth: { algorithm: 'HS256' }",
      `7:61  ${DOCS}.oauth.algorithm  is "HS256"; expected one of ES256, ES384, ES512, RS256, RS384, RS512, PS256, PS384, PS512; did you mean "ES256"?`,
    ],
    [
      "url: 'https://example.com', oauth: { clientMetadataUrl: 'https://example.com' }",
      `7:69  ${DOCS}.oauth.clientMetadataUrl  is not the address of a document; expected an https URL with a path`,
    ],
    [
      "url: 'https://example.com', oauth: { clientMetadataUrl: 'http://example.com/x' }",
      `7:69  ${DOCS}.oauth.clientMetadataUrl  is not the address of a document; expected an https URL with a path`,
    ],
    [
      "url: 'https://example.com', oauth: { redirectUri: 'myapp://x' }",
      `7:63  ${DOCS}.oauth.redirectUri  is not a URL; expected one such as http://127.0.0.1:8123/callback`,
    ],
    [
      "url: 'https://example.com', oauth: { issuer: 'example.com' }",
      `7:58  ${DOCS}.oauth.issuer  is not a URL; expected one such as https://example.com/mcp`,
    ],
    [
      "url: 'https://example.com', oauth: { clientSecret: 5 }",
      `7:64  ${DOCS}.oauth.clientSecret  is a number; expected a string`,
    ],
    [
      "url: 'https://example.com', oauth: { clientSecret: 'x${' }",
      `7:64  ${DOCS}.oauth.clientSecret  has "\${" without a closing "}" at character 2; expected \${NAME}, \${NAME:-default} or \${secret://…}, or $\${ for a literal \${`,
    ],
    [`${RUN}enabled: "yes"`, `7:38  ${DOCS}.enabled  is a string; expected true or false`],
    ...["0", "-5", "1.5", "86400001", "86400001.5", "NaN", "Infinity"].map(
      (value): [string, string] => [
        `${RUN}timeout: ${value}`,
        `7:38  ${DOCS}.timeout  is ${value}; expected a whole number of milliseconds from 1 to 86400000`,
      ],
    ),
    [
      `${RUN}timeout: "30s"`,
      `7:38  ${DOCS}.timeout  is a string; expected a whole number of milliseconds from 1 to 86400000`,
    ],
    [
      `${RUN}idleTimeout: -1`,
      `7:42  ${DOCS}.idleTimeout  is -1; expected a whole number of milliseconds from 0 to 86400000`,
    ],
    [
      `${RUN}maxRestarts: true`,
      `7:42  ${DOCS}.maxRestarts  is true; expected a whole number from 0 to 1000`,
    ],
    [
      `${RUN}maxMessageBytes: 5`,
      `7:46  ${DOCS}.maxMessageBytes  is 5; expected a whole number of bytes from 1024 to 268435456`,
    ],
    [
      `${RUN}protocol: "2025-06-18"`,
      `7:39  ${DOCS}.protocol  is "2025-06-18"; expected one of auto, legacy, 2026-07-28; did you mean "2026-07-28"?`,
    ],
    [
      `${RUN}toolPrefix: "a b"`,
      `7:41  ${DOCS}.toolPrefix  is not a prefix for tool names; expected 1 to 64 of A-Z a-z 0-9 _ -`,
    ],
    [
      `${RUN}toolPrefix: ""`,
      `7:41  ${DOCS}.toolPrefix  is an empty string; expected a string that is not empty`,
    ],
    [
      `${RUN}include: "often"`,
      `7:38  ${DOCS}.include  is "often"; expected one of always, manual, agent`,
    ],
    [
      `${RUN}include: 1`,
      `7:38  ${DOCS}.include  is a number; expected always, manual, agent or an object { default, tools }`,
    ],
    [
      `${RUN}include: { tools: { x: "often" } }`,
      `7:52  ${DOCS}.include.tools.x  is "often"; expected one of always, manual, agent`,
    ],
    [
      `${RUN}include: { defalt: "agent" }`,
      `7:40  ${DOCS}.include.defalt  unknown key; did you mean "default"?`,
    ],
    [`${RUN}tools: { allow: "x" }`, `7:45  ${DOCS}.tools.allow  is a string; expected a list`],
    [
      `${RUN}tools: { allow: ["@destructive"] }`,
      `7:46  ${DOCS}.tools.allow[0]  is not what allow takes; expected @readOnly, server/@readOnly or the name of a tool`,
    ],
    [
      `${RUN}tools: { deny: ["@destuctive"] }`,
      `7:45  ${DOCS}.tools.deny[0]  is not what deny takes; expected @destructive, server/@destructive or the name of a tool`,
    ],
    [
      `${RUN}approval: { tools: { "@destructive": "ask" } }`,
      `7:50  ${DOCS}.approval.tools["@destructive"]  is about what tools do, which only rules can be (allow, deny, ownerOnly); expected the name of a tool`,
    ],
    [
      `${RUN}tools: { ownerOnly: 1 }`,
      `7:49  ${DOCS}.tools.ownerOnly  is a number; expected true, false or a list of tools`,
    ],
    [
      `${RUN}rateLimit: 0`,
      `7:40  ${DOCS}.rateLimit  is 0; expected a whole number of calls a minute from 1 to 1000000, or false`,
    ],
    [
      `${RUN}rateLimit: { default: 0 }`,
      `7:51  ${DOCS}.rateLimit.default  is 0; expected a whole number of calls a minute from 1 to 1000000, or false`,
    ],
    [
      `${RUN}rateLimit: { search: 5 }`,
      `7:42  ${DOCS}.rateLimit.search  unknown key; for a single tool write { "tools": { "search": … } }`,
    ],
    [
      `${RUN}concurrency: { tools: { x: false } }`,
      `7:56  ${DOCS}.concurrency.tools.x  is false; expected a whole number from 1 to 10000`,
    ],
    [
      `${RUN}concurrency: "4"`,
      `7:42  ${DOCS}.concurrency  is a string; expected a whole number from 1 to 10000`,
    ],
    [
      `${RUN}approval: "aks"`,
      `7:39  ${DOCS}.approval  is "aks"; expected one of never, ask, destructive; did you mean "ask"?`,
    ],
    [
      `${RUN}approval: { tools: { x: "no" } }`,
      `7:53  ${DOCS}.approval.tools.x  is "no"; expected one of never, ask, destructive`,
    ],
    [
      `${RUN}provenance: "npm"`,
      `7:41  ${DOCS}.provenance  is a string; expected an object as plugboard add writes it`,
    ],
    [
      `${RUN}provenance: { kind: "regestry" }`,
      `7:49  ${DOCS}.provenance.kind  is "regestry"; expected one of registry, bundle; did you mean "registry"?`,
    ],
    [
      `${RUN}provenance: { kind: "bundle", source: "a", name: "a", version: "1", hash: "5" }`,
      `7:103  ${DOCS}.provenance.hash  is not a hash; expected sha256- and 64 hexadecimal digits`,
    ],
    [`${RUN}args: [], args: ["x"]`, `7:39  ${DOCS}.args  duplicate key; the first one is at 7:29`],
  ])("%s", async (keys, message) => {
    expect(await messagesOf(server(keys))).toEqual([`FILE:${message}`]);
  });

  it.each([
    ["a list", "[]"],
    ["a string", "'npx'"],
    ["null", "null"],
  ])("that is %s", async (what, value) => {
    expect(
      await messagesOf(`{ agents: { defaults: { mcp: { servers: { x: ${value} } } } } }`),
    ).toEqual([`FILE:1:46  agents.defaults.mcp.servers.x  is ${what}; expected an object`]);
  });

  it.each([
    ["an empty name", "", "is a name of 0 characters; expected 1 to 64"],
    ["a long name", "x".repeat(65), "is a name of 65 characters; expected 1 to 64"],
    ["a slash", "a/b", 'has a "/" in its name; expected one without'],
    [
      "a control character",
      "a\\u0007",
      "has a control character in its name; expected one without",
    ],
    [
      "an invisible character",
      "a\\u200b",
      "has a control character in its name; expected one without",
    ],
    ["a space before", " a", "has a space at an end of its name; expected one without"],
    ["a space behind", "a ", "has a space at an end of its name; expected one without"],
    [
      "the name of the native tools",
      "native",
      "is the name of the native tools; expected another one",
    ],
  ])("with %s", async (_, name, message) => {
    const [line] = await messagesOf(
      `{ agents: { defaults: { mcp: { servers: { "${name}": { command: "x" } } } } } }`,
    );
    expect(line).toMatch(/^FILE:1:43 {2}agents\.defaults\.mcp\.servers/);
    expect(line?.endsWith(`  ${message}`)).toBe(true);
  });
});

it("a server with both command and url is reported for that beside its other mistakes", async () => {
  expect(await messagesOf(server('command: "a", url: "https://b.example", lazy: 1'))).toEqual([
    `FILE:6:11  ${DOCS}  has both "command" and "url"; expected one of them, or a "transport"`,
    `FILE:7:59  ${DOCS}.lazy  is a number; expected true or false`,
  ]);
});
