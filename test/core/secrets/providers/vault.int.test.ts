import { writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SecretProvider, VaultSettings } from "../../../../src/core/types/secret-provider.ts";
import { createVaultProvider } from "../../../../src/core/secrets/providers/vault.ts";
import { startVaultService, type VaultService } from "../../../fixtures/secrets/vault-service.ts";
import { makeCertificates } from "../../net/certificates.ts";
import { listen } from "../../net/servers.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import {
  failureOf,
  openSockets,
  openSurroundings,
  type TestSurroundings,
  valueOf,
} from "../surroundings.ts";
import { fakePrograms, reference } from "../programs.ts";

let service: VaultService;
let around: TestSurroundings;
let sockets = 0;
let provider: SecretProvider;

beforeEach(async () => {
  sockets = openSockets();
  service = await startVaultService();
  service.tokens.set("root", {});
  service.mounts.set("secret", {
    version: 2,
    secrets: new Map<string, Record<string, unknown>>([
      ["app", { password: "of version 2", user: "app", port: 8080, value: "the value" }],
      ["app/only", { token: "the only one" }],
      ["app/two", { user: "a", password: "b" }],
      ["app/none", {}],
      ["with space/ü", { token: "encoded" }],
    ]),
  });
  service.mounts.set("kv", {
    version: 1,
    secrets: new Map([
      ["app", { password: "of version 1" }],
      ["data/app", { password: "a path that begins with data" }],
    ]),
  });
  service.mounts.set("team/kv", {
    version: 2,
    secrets: new Map([["app", { token: "of a team" }]]),
  });
  service.mounts.set("pki", { version: 1, type: "pki", secrets: new Map() });
});

afterEach(async () => {
  await provider.close?.();
  await around.close();
  await service.close();
  await eventually(() => openSockets() <= sockets);
});

async function open(
  settings: VaultSettings = {},
  env: Record<string, string> = { VAULT_TOKEN: "root" },
  clock?: ManualClock,
): Promise<SecretProvider> {
  around = await openSurroundings({ env });
  provider = createVaultProvider(
    { address: service.address, ...settings },
    { ...around, ...(clock && { clock }) },
  );
  return provider;
}

const never = new AbortController().signal;

describe("a secret", () => {
  it.each([
    ["secret://vault/secret/app#password", "of version 2"],
    ["secret://vault/secret/app#port", "8080"],
    ["secret://vault/secret/app", "the value"],
    ["secret://vault/secret/app/only", "the only one"],
    ["secret://vault/secret/with space/ü", "encoded"],
    ["secret://vault/kv/app#password", "of version 1"],
    ["secret://vault/kv/data/app", "a path that begins with data"],
    ["secret://vault/team/kv/app", "of a team"],
  ])("%s is %j", async (text, value) => {
    expect(await valueOf(await open(), text)).toBe(value);
  });

  it("costs one request in a mount of version 2, and in any that is known", async () => {
    const vault = await open();
    await valueOf(vault, "secret://vault/secret/app/only");
    expect(service.requests).toEqual(["GET secret/data/app/only"]);
    await valueOf(vault, "secret://vault/kv/app");
    service.requests.length = 0;
    await valueOf(vault, "secret://vault/kv/app");
    expect(service.requests).toEqual(["GET kv/app"]);
  });

  it("a hundred are asked for at once", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `many-${index}`);
    for (const name of names) service.mounts.get("secret")?.secrets.set(name, { value: name });
    service.together.count = names.length;
    const vault = await open();
    const values = await Promise.all(
      names.map((name) => valueOf(vault, `secret://vault/secret/${name}`)),
    );
    expect(values).toEqual(names);
    expect(service.requests).toHaveLength(names.length);
  });

  it("is read by a token that may not look at the mount", async () => {
    service.tokens.set("reader", { policies: ["kv/app", "secret/data/app"] });
    const vault = await open({}, { VAULT_TOKEN: "reader" });
    expect(await valueOf(vault, "secret://vault/kv/app")).toBe("of version 1");
    expect(await valueOf(vault, "secret://vault/secret/app/only")).toBe("the only one");
  });

  it("is read in a namespace", async () => {
    service.namespace = "team-a";
    expect(await valueOf(await open({ namespace: "team-a" }), "secret://vault/kv/app")).toBe(
      "of version 1",
    );
    await provider.close?.();
    await around.close();
    const vault = await open({}, { VAULT_TOKEN: "root", VAULT_NAMESPACE: "team-a" });
    expect(await valueOf(vault, "secret://vault/kv/app")).toBe("of version 1");
  });

  it("is read from VAULT_ADDR", async () => {
    around = await openSurroundings({
      env: { VAULT_ADDR: `${service.address}/`, VAULT_TOKEN: "root" },
    });
    provider = createVaultProvider({}, around);
    expect(await valueOf(provider, "secret://vault/kv/app")).toBe("of version 1");
  });
});

describe("a certificate of one's own authority", () => {
  const open200 = (_: unknown, response: { end: (text: string) => void }): void =>
    response.end(JSON.stringify({ data: { data: { token: "over TLS" }, metadata: {} } }));

  it("is accepted with secrets.vault.ca or VAULT_CACERT, and with nothing else", async () => {
    const { ca, server } = await makeCertificates();
    const address = `https://127.0.0.1:${await listen(createServer(server, open200))}`;
    const vault = await open({ address });
    expect(await failureOf(vault, "secret://vault/secret/app")).toMatchObject({ code: "NETWORK" });
    const file = join(around.homedir, "ca.pem");
    await writeFile(file, ca);
    const settings = [{ address, ca: file }, { address, ca: "~/ca.pem" }, { address }];
    for (const each of settings) {
      const env = { ...around.env, ...(!("ca" in each) && { VAULT_CACERT: file }) };
      const other = createVaultProvider(each, { ...around, env });
      expect(await valueOf(other, "secret://vault/secret/app")).toBe("over TLS");
      await other.close?.();
    }
  });

  it("a file that is not there is named", async () => {
    const vault = await open({ ca: "/nonexistent/ca.pem" });
    expect(await failureOf(vault, "secret://vault/secret/app")).toMatchObject({
      message: "the file /nonexistent/ca.pem (secrets.vault.ca) cannot be read",
      permanent: true,
    });
  });
});

describe("a failure that does not pass", () => {
  it.each([
    [
      "several keys",
      "secret://vault/secret/app/two",
      'it does not say which key is meant: the keys are "user", "password"',
    ],
    [
      "no keys",
      "secret://vault/secret/app/none",
      "it does not say which key is meant: there are no keys",
    ],
    [
      "another key",
      "secret://vault/secret/app#pasword",
      'there is no key "pasword"; the keys are "password", "user", "port", "value"',
    ],
    [
      "no such path in version 2",
      "secret://vault/secret/nope",
      "there is no secret nope in the mount secret",
    ],
    [
      "no such path in version 1",
      "secret://vault/kv/nope",
      "there is no secret nope in the mount kv",
    ],
    ["no such mount", "secret://vault/nope/app", "there is no secret app in the mount nope"],
    [
      "a deleted version",
      "secret://vault/secret/gone",
      "the secret gone in the mount secret was deleted",
    ],
    ["another engine", "secret://vault/pki/cert", "the mount pki has no KV secrets"],
    [
      "a path that leaves the mount",
      "secret://vault/secret/../sys/mounts",
      "it is not the path of a secret in Vault",
    ],
    ["a mount alone", "secret://vault/secret", "it is not the path of a secret in Vault"],
    [
      "the token itself",
      "secret://vault/auth/token/lookup-self#id",
      "it is not the path of a secret in Vault",
    ],
    [
      "the token in a namespace",
      "secret://vault/team/auth/token/lookup-self#id",
      "there is no secret auth/token/lookup-self in the mount team",
    ],
  ])("%s", async (_, text, message) => {
    service.mounts.get("secret")?.secrets.set("gone", "deleted");
    const failure = await failureOf(await open(), text);
    expect(failure).toMatchObject({ code: "SECRET_UNAVAILABLE", message, permanent: true });
  });

  it("a path of the API is explained", async () => {
    const failure = await failureOf(await open(), "secret://vault/secret/data/app");
    expect(failure.hint).toContain('leave out "data/"');
  });

  it.each([
    ["a policy", { policies: ["sys/internal/ui/mounts"] }],
    ["a revoked token", { isRevoked: true }],
  ])("%s is a 403", async (_, entry) => {
    service.tokens.set("denied", entry);
    const vault = await open({}, { VAULT_TOKEN: "denied" });
    expect(await failureOf(vault, "secret://vault/secret/app")).toEqual({
      code: "SECRET_UNAVAILABLE",
      message:
        "Vault does not give the secret app in the mount secret (403): 1 error occurred: * permission denied",
      hint: "the token may have expired or be invalid, or its policies do not allow this",
      permanent: true,
    });
  });

  it("no address", async () => {
    around = await openSurroundings({ env: { VAULT_TOKEN: "root" } });
    provider = createVaultProvider({}, around);
    expect(await failureOf(provider, "secret://vault/secret/app")).toMatchObject({
      message: "it does not say where Vault is",
      hint: "set secrets.vault.address or VAULT_ADDR",
    });
  });

  it("no token", async () => {
    expect(await failureOf(await open({}, {}), "secret://vault/secret/app")).toMatchObject({
      message: "there is no token for Vault",
      hint: expect.stringContaining("vault login"),
    });
  });
});

describe("a failure that may pass", () => {
  it("a sealed Vault", async () => {
    const vault = await open();
    service.isSealed = true;
    expect(await failureOf(vault, "secret://vault/secret/app")).toMatchObject({
      message: "Vault does not give the secret app in the mount secret (503): Vault is sealed",
      permanent: false,
    });
    service.isSealed = false;
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("the value");
  });

  it("a Vault that cannot be reached", async () => {
    const vault = await open();
    await service.close();
    expect(await failureOf(vault, "secret://vault/secret/app")).toMatchObject({
      code: "NETWORK",
      permanent: false,
    });
  });

  it("a Vault that only its program reaches: that is told", async () => {
    const script = `[ "$*" = "kv get -format=json secret/app" ] && [ "$VAULT_ADDR" = "${service.address}" ] || exit 2
      echo '{"data":{"data":{"value":"of the program"},"metadata":{}}}'`;
    const directory = await fakePrograms({ bao: script });
    const vault = await open({}, { PATH: `${directory}:/bin:/usr/bin` });
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("of the program");
    expect(around.told).toEqual([
      "the program of Vault answered in place of Vault's API: there is no token for Vault",
    ]);
  });

  it("a request that nobody waits for is dropped", async () => {
    const vault = await open();
    service.silent = true;
    const controller = new AbortController();
    const failure = failureOf(vault, "secret://vault/secret/app", controller.signal);
    await eventually(() => service.requests.length === 1);
    controller.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED" });
    await eventually(() => service.dropped === 1);
  });
});

describe("signing in", () => {
  const approle: VaultSettings = {
    auth: { type: "approle", roleId: "board", secretId: "${SECRET_ID}" },
  };

  beforeEach(() => {
    service.roles.set("board", "s3cret");
  });

  it("with the token that vault login has left, also after another login", async () => {
    const vault = await open({}, {});
    const file = join(around.homedir, ".vault-token");
    await writeFile(file, "root\n");
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("the value");
    service.tokens.delete("root");
    service.tokens.set("newer", {});
    await writeFile(file, "newer");
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("the value");
  });

  it("with a token that the settings refer to", async () => {
    const vault = await open(
      { auth: { type: "token", token: "${MY_TOKEN}" } },
      { MY_TOKEN: "root" },
    );
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("the value");
  });

  it("a token that never worked is looked for again at the next attempt", async () => {
    const vault = await open({}, {});
    const file = join(around.homedir, ".vault-token");
    await writeFile(file, "expired");
    expect((await failureOf(vault, "secret://vault/secret/app")).message).toContain("403");
    await writeFile(file, "root");
    expect(await valueOf(vault, "secret://vault/secret/app")).toBe("the value");
  });

  it("with AppRole: once for all, and again once a token is refused", async () => {
    const vault = await open(approle, { SECRET_ID: "s3cret" });
    const paths = ["app", "app/only", "app"];
    await Promise.all(paths.map((path) => valueOf(vault, `secret://vault/secret/${path}`)));
    expect(logins()).toBe(1);
    for (const entry of service.tokens.values()) entry.isRevoked = true;
    await Promise.all(paths.map((path) => valueOf(vault, `secret://vault/secret/${path}`)));
    expect(logins()).toBe(2);
  });

  it("a token is replaced before its lease ends", async () => {
    const clock = new ManualClock();
    service.lease = 60;
    const vault = await open(approle, { SECRET_ID: "s3cret" }, clock);
    await valueOf(vault, "secret://vault/secret/app");
    await clock.advance(45_000);
    await valueOf(vault, "secret://vault/secret/app");
    expect(logins()).toBe(1);
    await clock.advance(10_000);
    await valueOf(vault, "secret://vault/secret/app");
    expect(logins()).toBe(2);
  });

  it("a policy that does not allow it costs no login, however often it is asked", async () => {
    service.policies = ["secret/data/app"];
    const vault = await open(approle, { SECRET_ID: "s3cret" });
    for (const path of ["other", "app", "other", "other"]) {
      const asked = path === "app" ? valueOf : failureOf;
      await asked(vault, `secret://vault/secret/${path}`);
    }
    expect((await failureOf(vault, "secret://vault/secret/other")).message).toContain("403");
    expect(logins()).toBe(1);
  });

  it("AppRole with a wrong secret id does not pass", async () => {
    const vault = await open(approle, { SECRET_ID: "wrong" });
    const failure = await failureOf(vault, "secret://vault/secret/app");
    expect(failure).toMatchObject({
      message: "Vault does not accept the sign-in (400): invalid role or secret ID",
      permanent: true,
    });
    expect(failure.message).not.toContain("wrong");
  });

  it("with the token of a pod in Kubernetes", async () => {
    around = await openSurroundings();
    const tokenFile = join(around.homedir, "pod-token");
    await writeFile(tokenFile, "eyJ.jwt\n");
    service.pods.set("board", "eyJ.jwt");
    const auth = { type: "kubernetes", role: "board", mount: "clusters/eu", tokenFile } as const;
    provider = createVaultProvider({ address: service.address, auth }, around);
    expect(await valueOf(provider, "secret://vault/secret/app")).toBe("the value");
    service.pods.clear();
    service.tokens.clear();
    expect(await failureOf(provider, "secret://vault/secret/app")).toMatchObject({
      message: "Vault does not accept the sign-in (403): permission denied",
    });
  });

  function logins(): number {
    return service.requests.filter((request) => request.endsWith("/login")).length;
  }
});

describe("storing", () => {
  it.each([
    ["a mount of version 2", {}, "secret://vault/secret/plugboard/github-TOKEN#value"],
    [
      "a mount of version 1",
      { directory: "kv/tools" },
      "secret://vault/kv/tools/github-TOKEN#value",
    ],
  ])("%s", async (_, settings, text) => {
    const vault = await open(settings);
    expect(await vault.store?.("github TOKEN", "x", { signal: never })).toEqual(reference(text));
    expect(await valueOf(vault, text)).toBe("x");
  });

  it("says why Vault refuses", async () => {
    service.tokens.set("reader", { policies: ["sys/"] });
    const vault = await open({}, { VAULT_TOKEN: "reader" });
    await expect(vault.store?.("a", "x", { signal: never })).rejects.toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message: expect.stringContaining("Vault does not store secret/plugboard/a (403)"),
    });
  });
});
