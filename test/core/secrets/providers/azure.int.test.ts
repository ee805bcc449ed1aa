import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AzureSettings, SecretProvider } from "../../../../src/core/types/secret-provider.ts";
import { createAzureProvider } from "../../../../src/core/secrets/providers/azure.ts";
import {
  type AzureService,
  IDENTITY_HEADER,
  startAzureService,
} from "../../../fixtures/secrets/azure-service.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import {
  failureOf,
  openSockets,
  openSurroundings,
  type TestSurroundings,
  valueOf,
} from "../surroundings.ts";
import { reference } from "../programs.ts";

let service: AzureService;
let around: TestSurroundings;
let sockets = 0;
let provider: SecretProvider;

const never = new AbortController().signal;
const client: Record<string, string> = {
  AZURE_TENANT_ID: "tenant",
  AZURE_CLIENT_ID: "board",
  AZURE_CLIENT_SECRET: "s3cret~value",
};

beforeEach(async () => {
  sockets = openSockets();
  service = await startAzureService();
  service.applications.set("tenant/board", { secret: "s3cret~value", assertion: "eyJ.federated" });
  service.secrets.set("db-password", [
    { value: "old", id: "v1" },
    { value: "new\n", id: "v2" },
  ]);
});

afterEach(async () => {
  await provider.close?.();
  await around.close();
  await service.close();
  await eventually(() => openSockets() <= sockets);
});

async function open(
  env: Record<string, string> = client,
  settings: AzureSettings = {},
  options: { clock?: ManualClock; withTools?: boolean } = {},
): Promise<SecretProvider> {
  const metadata = { AZURE_POD_IDENTITY_AUTHORITY_HOST: service.origin };
  around = await openSurroundings({
    env: { ...metadata, ...env },
    withTools: options.withTools ?? false,
  });
  provider = createAzureProvider(
    { endpoint: service.origin, authority: service.origin, ...settings },
    { ...around, ...(options.clock && { clock: options.clock }) },
  );
  return provider;
}

function givenBy(): string[] {
  return [...service.tokens.values()];
}

describe("a secret", () => {
  it.each([
    ["secret://azure/prod-vault/db-password", "new"],
    ["secret://azure/prod-vault/db-password/v1", "old"],
  ])("%s is %j", async (text, value) => {
    expect(await valueOf(await open(), text)).toBe(value);
  });

  it.each([
    [
      "no such secret",
      "secret://azure/prod-vault/nope",
      "there is no secret nope in the vault prod-vault: A secret with (name/id) nope was not found in this key vault.",
    ],
    [
      "no such version",
      "secret://azure/prod-vault/db-password/v9",
      "there is no secret db-password in the vault prod-vault: A secret with (name/id) db-password was not found in this key vault.",
    ],
    [
      "a vault that is another host",
      "secret://azure/evil.example.com/db-password",
      "it is not the name of a secret in Azure Key Vault",
    ],
    ["no name", "secret://azure/prod-vault", "it is not the name of a secret in Azure Key Vault"],
    [
      "a key",
      "secret://azure/prod-vault/db-password#key",
      "it is not the name of a secret in Azure Key Vault",
    ],
  ])("%s does not pass", async (_, text, message) => {
    const failure = await failureOf(await open(), text);
    expect(failure).toMatchObject({ code: "SECRET_UNAVAILABLE", message, permanent: true });
  });

  it.each([
    [
      403,
      "Forbidden",
      "ForbiddenByRbac",
      true,
      "these credentials may not use the secret db-password in the vault prod-vault (403): words",
    ],
    [
      403,
      "Forbidden",
      "SecretDisabled",
      true,
      "the secret db-password in the vault prod-vault is disabled: words",
    ],
    [429, "Throttled", undefined, false, "Azure cannot answer now (429): words"],
    [503, "ServiceUnavailable", undefined, false, "Azure cannot answer now (503): words"],
  ])("%i %s %s: permanent %s", async (status, code, inner, permanent, message) => {
    const azure = await open();
    const innererror = inner === undefined ? {} : { innererror: { code: inner } };
    service.failures.push({ status, error: { code, message: "words\nmore words", ...innererror } });
    expect(await failureOf(azure, "secret://azure/prod-vault/db-password")).toMatchObject({
      message,
      permanent,
    });
    expect(await valueOf(azure, "secret://azure/prod-vault/db-password")).toBe("new");
  });

  it("a hundred are asked for at once", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const name of names) service.secrets.set(name, [{ value: name, id: "v1" }]);
    service.together.count = names.length;
    const azure = await open();
    const values = await Promise.all(
      names.map((name) => valueOf(azure, `secret://azure/prod-vault/${name}`)),
    );
    expect(values).toEqual(names);
    // And one for the token.
    expect(service.requests).toHaveLength(names.length + 1);
  });

  it("a vault that cannot be reached may come back", async () => {
    const azure = await open();
    await service.close();
    expect(await failureOf(azure, "secret://azure/prod-vault/db-password")).toMatchObject({
      code: "NETWORK",
      permanent: false,
    });
  });

  it("a request that nobody waits for is dropped", async () => {
    const azure = await open();
    await valueOf(azure, "secret://azure/prod-vault/db-password");
    service.silent = true;
    service.requests.length = 0;
    const controller = new AbortController();
    const failure = failureOf(azure, "secret://azure/prod-vault/db-password", controller.signal);
    await eventually(() => service.requests.length === 1);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
    await eventually(() => service.dropped === 1);
  });
});

describe("the token comes from", () => {
  const text = "secret://azure/prod-vault/db-password";

  it("a client secret, once for all and again shortly before it expires", async () => {
    const clock = new ManualClock();
    const azure = await open(client, {}, { clock });
    await Promise.all([valueOf(azure, text), valueOf(azure, `${text}/v1`)]);
    expect(givenBy()).toEqual(["client"]);
    await clock.advance(3599_000 - 130_000);
    await valueOf(azure, text);
    expect(givenBy()).toHaveLength(1);
    await clock.advance(20_000);
    await valueOf(azure, text);
    expect(givenBy()).toHaveLength(2);
  });

  it("another sign-in once the vault does not accept it any more", async () => {
    const azure = await open();
    await valueOf(azure, text);
    service.tokens.clear();
    expect(await valueOf(azure, text)).toBe("new");
    expect(givenBy()).toEqual(["client"]);
  });

  it("a client secret that the settings refer to", async () => {
    const auth = {
      type: "client-secret",
      tenantId: "tenant",
      clientId: "board",
      clientSecret: "${MINE}",
    } as const;
    expect(await valueOf(await open({ MINE: "s3cret~value" }, { auth }), text)).toBe("new");
  });

  it("a workload identity, whose file is read each time", async () => {
    around = await openSurroundings();
    const file = join(around.homedir, "federated-token");
    await writeFile(file, "eyJ.federated\n");
    const { homedir } = around;
    const env = {
      AZURE_TENANT_ID: "tenant",
      AZURE_CLIENT_ID: "board",
      AZURE_FEDERATED_TOKEN_FILE: file,
    };
    const settings = { endpoint: service.origin, authority: service.origin };
    provider = createAzureProvider(settings, { ...around, env, homedir });
    expect(await valueOf(provider, text)).toBe("new");
    expect(givenBy()).toEqual(["workload"]);
    service.tokens.clear();
    service.applications.set("tenant/board", { assertion: "eyJ.newer" });
    await writeFile(file, "eyJ.newer");
    expect(await valueOf(provider, text)).toBe("new");
  });

  it("the machine's identity", async () => {
    service.identities.add("");
    expect(await valueOf(await open({}, { auth: { type: "managed-identity" } }), text)).toBe("new");
    expect(givenBy()).toEqual(["machine"]);
  });

  it("the machine's identity, where nothing is configured", async () => {
    service.identities.add("");
    expect(await valueOf(await open({}), text)).toBe("new");
    expect(givenBy()).toEqual(["machine"]);
  });

  it("one of several identities of the machine", async () => {
    service.identities.add("second");
    const auth = { type: "managed-identity", clientId: "second" } as const;
    expect(await valueOf(await open({}, { auth }), text)).toBe("new");
  });

  it("the identity of an app", async () => {
    service.identities.add("");
    const env = { IDENTITY_ENDPOINT: `${service.origin}/msi/token`, IDENTITY_HEADER };
    expect(await valueOf(await open(env), text)).toBe("new");
    expect(givenBy()).toEqual(["app"]);
  });

  describe("az", () => {
    const args = "account get-access-token --output json --resource https://vault.azure.net";

    async function openWithTool(
      state: object,
      settings: AzureSettings = {},
    ): Promise<SecretProvider> {
      const azure = await open({}, settings, { withTools: true });
      const file = join(around.homedir, "az.json");
      await writeFile(file, JSON.stringify(state));
      (around.env as Record<string, string>)["FAKE_AZ"] = file;
      return azure;
    }

    const expires_on = Math.floor(Date.now() / 1000) + 3600;

    it("where the machine has no identity", async () => {
      service.tokens.set("of az", "az");
      const azure = await openWithTool({ args, answer: { accessToken: "of az", expires_on } });
      expect(await valueOf(azure, text)).toBe("new");
    });

    it("of a tenant that the settings name", async () => {
      service.tokens.set("of az", "az");
      const state = { args: `${args} --tenant t`, answer: { accessToken: "of az", expires_on } };
      const azure = await openWithTool(state, { auth: { type: "az", tenantId: "t" } });
      expect(await valueOf(azure, text)).toBe("new");
    });

    it.each([
      [
        { stderr: "ERROR: Please run 'az login' to setup account." },
        true,
        "az failed: ERROR: Please run 'az login' to setup account.",
      ],
      [
        { stderr: "ERROR: Failed to establish a new connection" },
        false,
        "az failed: ERROR: Failed to establish a new connection",
      ],
      [{ args, answer: {} }, true, "az did not answer with a token; az failed: az: error: …"],
    ])("%j: permanent %s", async (state, permanent, message) => {
      const azure = await openWithTool(state, { auth: { type: "az" } });
      const failure = await failureOf(azure, text);
      expect(failure).toMatchObject({ permanent });
      expect(failure.message.replace(/(az: error: ).*/, "$1…")).toBe(message);
    });

    it("gives the secret itself, and that is told, where the API cannot be reached", async () => {
      const id = `${service.origin}/secrets/token`;
      const answer = { value: "of the program" };
      const azure = await openWithTool({
        args: `keyvault secret show --output json --id ${id}`,
        answer,
      });
      expect(await valueOf(azure, "secret://azure/my-vault/token")).toBe("of the program");
      expect(around.told).toEqual([
        expect.stringMatching(/^az answered in place of Azure's API: /),
      ]);
    });

    it("which is not there", async () => {
      const azure = await open({}, { auth: { type: "az" } });
      expect(await failureOf(azure, text)).toMatchObject({ message: "there is no az on the PATH" });
    });
  });

  it.each([
    [
      "a client secret that is not valid",
      { ...client, AZURE_CLIENT_SECRET: "other" },
      "Azure does not accept the client secret (401): AADSTS7000215: Invalid client secret provided.",
    ],
    [
      "a client id that is missing",
      { AZURE_TENANT_ID: "tenant", AZURE_CLIENT_SECRET: "x" },
      "the credentials for Azure are not complete: clientId is missing",
    ],
    [
      "a machine without an identity and without az",
      {},
      "Azure does not accept the managed identity (400): Identity not found",
    ],
  ])("%s: the error says so", async (_, env, message) => {
    const failure = await failureOf(await open(env), text);
    expect(failure).toMatchObject({ code: "SECRET_UNAVAILABLE", message, permanent: true });
  });

  it("a machine that is not one of Azure's, and refuses: the error says what could be configured", async () => {
    expect(await failureOf(await open({}), text)).toMatchObject({
      hint: expect.stringContaining("az login"),
    });
  });

  it("nothing at all: the error says what could be configured", async () => {
    const azure = await open({ AZURE_POD_IDENTITY_AUTHORITY_HOST: "http://127.0.0.1:9" });
    expect(await failureOf(azure, text)).toMatchObject({
      message: "there are no Azure credentials",
      hint: expect.stringContaining("az login"),
      permanent: true,
    });
  });

  it("no machine that does not answer: it is asked for a second", async () => {
    const clock = new ManualClock();
    service.silent = true;
    const azure = await open({}, {}, { clock });
    const failure = failureOf(azure, text);
    await eventually(() => service.requests.length === 1);
    await clock.advance(1000);
    expect(await failure).toMatchObject({ message: "there are no Azure credentials" });
  });
});

describe("storing", () => {
  it("puts the value into the vault of the settings", async () => {
    const azure = await open(client, { vault: "prod-vault" });
    expect(await azure.store?.("github_GITHUB_TOKEN", "x", { signal: never })).toEqual(
      reference("secret://azure/prod-vault/github-GITHUB-TOKEN"),
    );
    expect(await valueOf(azure, "secret://azure/prod-vault/github-GITHUB-TOKEN")).toBe("x");
  });

  it("needs a vault", async () => {
    const azure = await open();
    await expect(azure.store?.("a", "x", { signal: never })).rejects.toMatchObject({
      message: "it is not known which vault the value is to be put into",
      hint: "set secrets.azure.vault",
    });
  });
});
