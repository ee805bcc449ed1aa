import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { messagesOf, writeConfig } from "../files.ts";

const BEYOND =
  "makes the gateway reachable from other machines, and tokens would cross the network in plain text; expected gateway.tls, or gateway.behindProxy: true if something in front of it terminates TLS";
const JWT =
  "publicUrl: 'https://g.example', jwt: { issuers: [{ issuer: 'https://i.example', algorithms: ['RS256'] }]";

describe("a wrong block gateway", () => {
  it.each([
    ["{ prot: 1 }", 'FILE:1:14  gateway.prot  unknown key; did you mean "port"?'],
    ["{ port: -1 }", "FILE:1:20  gateway.port  is -1; expected a whole number from 0 to 65535"],
    [
      "{ host: '' }",
      "FILE:1:20  gateway.host  is an empty string; expected a string that is not empty",
    ],
    ["{ host: '0.0.0.0' }", `FILE:1:20  gateway.host  ${BEYOND}`],
    ["{ host: '::', behindProxy: false }", `FILE:1:20  gateway.host  ${BEYOND}`],
    ["{ tls: { cert: 'c' } }", "FILE:1:14  gateway.tls.key  is missing; expected a string"],
    [
      "{ behindProxy: 'yes' }",
      "FILE:1:27  gateway.behindProxy  is a string; expected true or false",
    ],
    [
      "{ publicUrl: 'gateway.example.com' }",
      "FILE:1:25  gateway.publicUrl  is not a URL; expected one such as https://example.com/mcp",
    ],
    [
      "{ publicUrl: 'http://g.example' }",
      "FILE:1:25  gateway.publicUrl  is plain http; expected https, since clients send their tokens to it",
    ],
    [
      "{ publicUrl: 'https://g.example/?a' }",
      "FILE:1:25  gateway.publicUrl  has a query or a fragment; expected a URL without",
    ],
    [
      "{ allowedHosts: ['https://g.example'] }",
      'FILE:1:29  gateway.allowedHosts[0]  is not a host; expected one such as gateway.example.com, *.example.com or localhost:8080, without "https://"',
    ],
    ...["*", "null", "https://app.example/", "app.example", "file:///x"].map((origin) => [
      `{ allowedOrigins: ['${origin}'] }`,
      "FILE:1:31  gateway.allowedOrigins[0]  is not the origin of a web page; expected one such as https://app.example.com, without a path",
    ]),
    [
      "{ jwt: { issuers: [{ issuer: 'https://i.example', algorithms: ['RS256'] }] } }",
      "FILE:1:14  gateway.jwt  needs gateway.publicUrl: a token must be made for the URL of this gateway",
    ],
    [
      "{ shared: {} }",
      "FILE:1:14  gateway.shared  needs postgres: tokens, grants, pins and the audit are kept there",
    ],
    [
      "{ shared: { valkey: { url: 'valkey://c' } } }",
      "FILE:1:14  gateway.shared  has valkey without postgres: Valkey may forget, and tokens, grants, pins and the audit must not be lost",
    ],
    [
      "{ shared: { postgres: { url: 'mysql://db/x' } } }",
      "FILE:1:41  gateway.shared.postgres.url  is not the URL of an engine; expected one such as postgres://host/database",
    ],
    ...["secret://env/DATABASE_URL", "op://vault/db/url", "${DATABASE_URL}"].map(
      (url): [string, string] => [
        `{ shared: { postgres: { url: '${url}' } } }`,
        'FILE:1:41  gateway.shared.postgres.url  is a reference, and only "password" can be one; write the URL itself without its password, such as postgres://user@host/database, and "password": "secret://env/PASSWORD" beside it',
      ],
    ),
    [
      "{ shared: { postgres: { url: 'postgres://u:p@db/x' } } }",
      'FILE:1:41  gateway.shared.postgres.url  has a password in it; expected it in "password", as a reference',
    ],
    [
      "{ shared: { postgres: 'postgres://u:p@db/x' } }",
      'FILE:1:34  gateway.shared.postgres  has a password in it; expected { "url": "postgres://user@host/database", "password": "secret://env/PASSWORD" }',
    ],
    [
      "{ shared: { postgres: 'postgres://db/x', valkey: 'secret://env/CACHE' } }",
      'FILE:1:61  gateway.shared.valkey  is a reference, and only a password can be one; write { "url": "valkey://user@host/0", "password": "secret://env/PASSWORD" }',
    ],
    [
      "{ shared: { postgres: 5 } }",
      'FILE:1:34  gateway.shared.postgres  is a number; expected a URL without a password, or an object with "url"',
    ],
    [
      "{ shared: { postgres: { url: 'postgres://db/x' }, keys: ['short'] } }",
      "FILE:1:69  gateway.shared.keys[0]  is shorter than 32 characters",
    ],
    [
      "{ shared: { postgres: { url: 'postgres://db/x' }, keys: ['secret://env'] } }",
      "FILE:1:69  gateway.shared.keys[0]  is a malformed secret reference; expected secret://<provider>/<path>, perhaps with #<key>",
    ],
    ["{ jwt: {} }", "FILE:1:14  gateway.jwt.issuers  is missing; expected a list"],
    [
      "{ jwt: { issuers: [] } }",
      "FILE:1:30  gateway.jwt.issuers  is an empty list; expected at least one",
    ],
    [
      "{ jwt: { issuers: [{ issuer: 'https://i.example' }] } }",
      "FILE:1:31  gateway.jwt.issuers[0].algorithms  is missing; expected a list",
    ],
    ...["HS256", "none", "rs256"].map((algorithm) => [
      `{ jwt: { issuers: [{ issuer: 'https://i.example', algorithms: ['${algorithm}'] }] } }`,
      `FILE:1:75  gateway.jwt.issuers[0].algorithms[0]  is "${algorithm}"; expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519`,
    ]),
    [
      `{ ${JWT}, scopes: { 'plug:code': 'default' } } }`,
      'FILE:1:120  gateway.jwt.scopes  unknown key; gateway.jwt.rights decides who may do what, such as { claim: "scope", has: "plug:code", agent: "coder" }',
    ],
    [
      `{ ${JWT}, rights: [] } }`,
      "FILE:1:128  gateway.jwt.rights  is an empty list; expected at least one",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'groups' }] } }`,
      "FILE:1:129  gateway.jwt.rights[0].has  is missing; expected a string, or a list of strings",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'groups', has: [] }] } }`,
      "FILE:1:153  gateway.jwt.rights[0].has  is an empty list; expected at least one",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'a..b', has: 'x' }] } }`,
      "FILE:1:138  gateway.jwt.rights[0].claim  has an empty name between its dots",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'g', has: 'x', agent: 'defualt' }] } }`,
      'FILE:1:160  gateway.jwt.rights[0].agent  names the agent "defualt", which the file does not have; did you mean "default"?',
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'g', has: 'x', issuer: 'https://j.example' }] } }`,
      'FILE:1:161  gateway.jwt.rights[0].issuer  is none of gateway.jwt.issuers; did you mean "https://i.example"?',
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'g', has: 'x', allow: ['@readonly'] }] } }`,
      "FILE:1:161  gateway.jwt.rights[0].allow[0]  is not what allow takes; expected @readOnly, server/@readOnly or the name of a tool",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'g', has: 'x', role: 'owner', agent: 'default' }] } }`,
      "FILE:1:159  gateway.jwt.rights[0].role  is owner, who may use every tool of every agent; remove agent and allow, or the role",
    ],
    [
      `{ ${JWT}, rights: [{ claim: 'g', has: 'x', role: 'viewer' }] } }`,
      "FILE:1:159  gateway.jwt.rights[0].role  is for the page, where nobody signs in without gateway.ui",
    ],
    [
      "{ ui: { clientId: 'p' } }",
      "FILE:1:14  gateway.ui  needs gateway.jwt: it says which provider to believe",
    ],
    ...(
      [
        ["owners", '; write { claim: "groups", has: […], role: "owner" } into gateway.jwt.rights'],
        [
          "viewers",
          '; write { claim: "groups", has: […], role: "viewer" } into gateway.jwt.rights',
        ],
        ["claim", "; each entry of gateway.jwt.rights names its claim"],
      ] as const
    ).map(([key, advice]) => [
      `{ ui: { clientId: 'p', ${key}: ['a'] }, ${JWT} } }`,
      `FILE:1:35  gateway.ui.${key}  unknown key${advice}`,
    ]),
    [
      `{ ui: { clientId: 'p', issuer: 'https://j.example' }, ${JWT} } }`,
      'FILE:1:43  gateway.ui.issuer  is none of gateway.jwt.issuers; did you mean "https://i.example"?',
    ],
    [
      "{ publicUrl: 'https://g.example', ui: { clientId: 'p' }, jwt: { issuers: [{ issuer: 'https://i.example', algorithms: ['RS256'], audience: ['a', 'p'] }] } }",
      "FILE:1:62  gateway.ui.clientId  is an audience of gateway.jwt too; register the page as another application than the gateway",
    ],
    [
      "{ publicUrl: 'https://g.example', jwt: { issuers: [{ issuer: 'https://i.example', algorithms: ['RS256'] }, { issuer: 'https://j.example', algorithms: ['RS256'] }], rights: [{ claim: 'groups', has: 'admins' }] } }",
      "FILE:1:185  gateway.jwt.rights[0]  needs issuer, because gateway.jwt has several issuers: each of them may have a group of the same name",
    ],
    [
      "{ limits: { bodyBytes: 10 } }",
      "FILE:1:35  gateway.limits.bodyBytes  is 10; expected a whole number of bytes from 1024 to 268435456",
    ],
    [
      "{ limits: { requestsPerMinute: true } }",
      "FILE:1:43  gateway.limits.requestsPerMinute  is true; expected a whole number from 1 to 100000000, or false for no limit",
    ],
    [
      "{ sessionTimeout: 0 }",
      "FILE:1:30  gateway.sessionTimeout  is 0; expected a whole number of milliseconds from 1 to 86400000",
    ],
    [
      "{ idleTimeout: 0 }",
      "FILE:1:27  gateway.idleTimeout  is 0; expected a whole number of milliseconds from 1 to 86400000",
    ],
  ] as [string, string][])("%s", async (block, message) => {
    const [found = ""] = await messagesOf(`{ gateway: ${block} }`);
    expect(found.replace(/; did you mean "RS256"\?$/, "")).toBe(message);
  });

  it("names an issuer that is there twice", async () => {
    const issuer = "{ issuer: 'https://i.example', algorithms: ['RS256'] }";
    const block = `{ publicUrl: 'https://g.example', jwt: { issuers: [${issuer}, ${issuer}] } }`;
    expect(await messagesOf(`{ gateway: ${block} }`)).toEqual([
      expect.stringContaining("gateway.jwt.issuers[1].issuer  is there twice"),
    ]);
  });
});

it("the block does not disturb the agents", async () => {
  const file = await writeConfig("{ gateway: { host: '0.0.0.0', behindProxy: true, port: 0 } }");
  expect((await loadConfig(file)).warnings).toEqual([]);
});
