import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../src/core/config/load.ts";
import { messagesOf, writeConfig } from "../files.ts";

const PLAIN = "is a credential in plain text; expected ${VAR} or a secret:// reference";
const CIRCLE =
  "is a secret of a provider that needs a credential itself; expected ${VAR}, or a secret of another provider";
const RELATIVE = "is a relative path; expected an absolute one, or one that begins with ~/";
const HTTP = "is plain http; expected https, since credentials are sent there";

describe("a wrong block secrets", () => {
  it.each([
    ["{ gcp: { projct: 'p' } }", 'gcp.projct  unknown key; did you mean "project"?'],
    [
      "{ gcp: { endpoint: 'https://secretmanager.googleapis.com' } }",
      'gcp.endpoint  is not a host; expected one such as secretmanager.europe-west3.rep.googleapis.com or localhost:8085, without "https://"',
    ],
    ["{ aws: { region: 1 } }", "aws.region  is a number; expected a string"],
    [
      "{ aws: { endpoint: 'localhost' } }",
      "aws.endpoint  is not a URL; expected one such as https://example.com/mcp",
    ],
    [
      "{ vault: { directory: 'secret' } }",
      "vault.directory  is not a mount with a path in it; expected one such as secret/plugboard",
    ],
    ["{ vault: { ca: 'ca.pem' } }", `vault.ca  ${RELATIVE}`],
    [
      "{ vault: { auth: {} } }",
      "vault.auth.type  is missing; expected one of token, approle, kubernetes",
    ],
    [
      "{ vault: { auth: { type: 'aprole' } } }",
      'vault.auth.type  is "aprole"; expected one of token, approle, kubernetes; did you mean "approle"?',
    ],
    ["{ vault: { auth: { type: 'token', token: 'hvs.1' } } }", `vault.auth.token  ${PLAIN}`],
    [
      "{ vault: { auth: { type: 'approle', roleId: 'r', secretId: 'secret://vault/a/b' } } }",
      `vault.auth.secretId  ${CIRCLE}`,
    ],
    [
      "{ vault: { auth: { type: 'approle' } } }",
      "vault.auth.roleId  is missing; expected a string",
    ],
    [
      "{ vault: { auth: { type: 'kubernetes', role: 'r', tokenFile: 'token' } } }",
      `vault.auth.tokenFile  ${RELATIVE}`,
    ],
    [
      "{ azure: { vault: 'my_vault' } }",
      "azure.vault  is not the name of a key vault; expected 3 to 24 letters, digits and hyphens",
    ],
    [
      "{ azure: { suffix: 'https://vault.azure.cn' } }",
      "azure.suffix  is not a domain; expected one such as vault.azure.net",
    ],
    ["{ azure: { authority: 'http://login.example' } }", `azure.authority  ${HTTP}`],
    [
      "{ azure: { auth: { type: 'client-secret', clientSecret: 'secret://azure/v/n' } } }",
      `azure.auth.clientSecret  ${CIRCLE}`,
    ],
    [
      "{ azure: { auth: { type: 'managed-identity', tenantId: 't' } } }",
      "azure.auth.tenantId  unknown key; expected type or clientId",
    ],
  ])("%s", async (block, message) => {
    const [found = ""] = await messagesOf(`{ secrets: ${block} }`);
    expect(found.replace(/^FILE:\d+:\d+ {2}/, "")).toBe(`secrets.${message}`);
  });
});

it("the block of every provider", async () => {
  const file = await writeConfig(`{ secrets: {
    gcp: { project: 'p', endpoint: '[::1]:8085' },
    aws: { region: 'eu-central-1', profile: 'work', endpoint: 'http://127.0.0.1:4566' },
    vault: {
      address: 'http://vault.internal:8200', namespace: 'a/b', ca: '~/ca.pem', directory: 'kv/tools',
      auth: { type: 'approle', roleId: 'r', secretId: 'secret://file//run/secrets/id', mount: 'm' },
    },
    azure: {
      vault: 'my-vault', suffix: 'vault.azure.cn', endpoint: 'https://127.0.0.1:8443',
      authority: 'https://login.chinacloudapi.cn',
      auth: { type: 'client-secret', tenantId: 't', clientId: 'c', clientSecret: '\${SECRET}' },
    },
  } }`);
  expect((await loadConfig(file)).warnings).toEqual([]);
});

it("the examples of docs/secrets.md", async () => {
  const page = await readFile(new URL("../../../../docs/secrets.md", import.meta.url), "utf8");
  const examples = [...page.matchAll(/```jsonc\n(\{[^]*?)```/g)].map(([, text = ""]) => text);
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const example of examples) {
    expect((await loadConfig(await writeConfig(example))).warnings).toEqual([]);
  }
});
