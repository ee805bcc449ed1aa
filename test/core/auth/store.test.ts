import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { authStore, grantKey, keyOf } from "../../../src/core/auth/store.ts";
import { GrantFiles } from "../../../src/core/state/files/grant-files.ts";
import { memoryGrants } from "../../../src/core/state/memory.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const DISCOVERY = { issuer: "https://a.example", authorizationServer: "https://a.example" };
const GRANT = { tokens: { access_token: "t", token_type: "Bearer" } };

describe.each([
  ["on disk", async () => new GrantFiles(temporaryDirectory(), systemClock)],
  ["in memory", async () => memoryGrants()],
])("a store %s", (_, grants) => {
  it("returns what was written until it is removed", async () => {
    const store = authStore(await grants());
    expect(await store.read("grant", "k")).toBeUndefined();
    await store.write("grant", "k", GRANT);
    await store.write("server", "k", { discovery: DISCOVERY });
    await store.write("client", "k", { redirectUri: "http://x", client: { client_id: "c" } });
    expect(await store.read("grant", "k")).toEqual(GRANT);
    expect(await store.read("server", "k")).toEqual({ discovery: DISCOVERY });
    expect(await store.read("client", "k")).toMatchObject({ client: { client_id: "c" } });
    expect(await store.read("grant", "other")).toBeUndefined();
    await store.remove("grant", "k");
    await store.remove("grant", "k");
    expect(await store.read("grant", "k")).toBeUndefined();
    expect(await store.withLease("k", async () => "done")).toBe("done");
  });
});

it("an incomplete file counts as missing", async () => {
  const directory = temporaryDirectory();
  const store = authStore(new GrantFiles(directory, systemClock));
  await mkdir(join(directory, "auth"));
  const broken = {
    server: ["{}", '{"discovery":{}}', "null", "{"],
    client: ["{}", '{"client":{"client_id":1}}'],
    grant: ["{}", '{"tokens":{"access_token":null}}', `{"x":"${"y".repeat(1024 * 1024)}"}`],
  };
  for (const kind of ["server", "client", "grant"] as const) {
    for (const content of broken[kind]) {
      await writeFile(join(directory, "auth", `${kind}-k.json`), content);
      expect(await store.read(kind, "k")).toBeUndefined();
    }
  }
});

describe("a key", () => {
  it("is hexadecimal, equal for equal parts, and depends on how they are split", () => {
    expect(keyOf("a", "b")).toMatch(/^[0-9a-f]{32}$/);
    expect(keyOf("a", "b")).toBe(keyOf("a", "b"));
    expect(new Set([keyOf("a", "b"), keyOf("ab"), keyOf("a,b"), keyOf("b", "a")]).size).toBe(4);
  });

  it("of a grant depends on the issuer, the resource and the client", () => {
    const url = "https://example.com/mcp";
    const keys = [
      grantKey(DISCOVERY, url),
      grantKey({ ...DISCOVERY, issuer: "https://b.example" }, url),
      grantKey({ ...DISCOVERY, resource: "https://example.com" }, url),
      grantKey(DISCOVERY, url, "app"),
    ];
    expect(new Set(keys).size).toBe(4);
    expect(grantKey({ ...DISCOVERY, resource: url }, url)).toBe(keys[0]);
  });
});
