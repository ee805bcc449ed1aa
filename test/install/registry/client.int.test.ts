import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { RegistryClient } from "../../../src/install/registry/client.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { type Registry, serverJson, startRegistry } from "../../fixtures/registry/registry.ts";

afterEach(closeAll);

async function client(registry: Registry, deadline = 20_000): Promise<RegistryClient> {
  const { signal } = new AbortController();
  return owned(
    new RegistryClient({ url: `${registry.url}/`, env: {}, clock: systemClock, signal, deadline }),
  );
}

const server = (name: string, version = "1.0.0", parts: object = {}): Registry["published"][0] => ({
  server: { name, description: `about ${name}`, version, ...parts },
});

async function failure(
  work: Promise<unknown>,
): Promise<Pick<PlugboardError, "code" | "message" | "hint">> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof PlugboardError)) throw new Error(`it is ${String(error)}`);
  const { code, message, hint } = error;
  return { code, message, hint };
}

describe("a server", () => {
  it("is the newest one, or the version that is asked for", async () => {
    const registry = owned(
      await startRegistry([server("io.github.a/x", "1.0.0"), server("io.github.a/x", "1.1.0+b")]),
    );
    const asked = await client(registry);
    expect((await asked.get("io.github.a/x")).server.version).toBe("1.1.0+b");
    expect((await asked.get("io.github.a/x", "1.0.0")).server.version).toBe("1.0.0");
    expect((await asked.get("io.github.a/x", "1.1.0+b")).isLatest).toBe(true);
    expect(registry.asked[0]).toBe("/v0.1/servers/io.github.a%2Fx/versions/latest");
  });

  it("has the hash of its whole server.json, whatever the order of its keys", async () => {
    const one = serverJson("hybrid");
    const reordered = Object.fromEntries(Object.entries(one).toReversed());
    const other = { ...one, "x-unknown": 1 };
    const hashes: string[] = [];
    for (const each of [one, reordered, other]) {
      const registry = owned(await startRegistry([{ server: each }]));
      hashes.push((await (await client(registry)).get("com.example/hybrid-mcp")).hash);
    }
    expect(hashes[0]).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it("that was deleted or is deprecated says so", async () => {
    const registry = owned(
      await startRegistry([
        { ...server("io.github.a/gone"), status: "deleted", statusMessage: "malware" },
        { ...server("io.github.a/old"), status: "deprecated", statusMessage: "use new" },
      ]),
    );
    const asked = await client(registry);
    const gone = { status: "deleted", statusMessage: "malware" };
    expect(await asked.get("io.github.a/gone")).toMatchObject(gone);
    expect(await asked.get("io.github.a/gone", "1.0.0")).toMatchObject(gone);
    expect(await asked.get("io.github.a/old")).toMatchObject({
      status: "deprecated",
      statusMessage: "use new",
    });
  });

  it("that is not there is told with what there is", async () => {
    const registry = owned(
      await startRegistry([server("io.github.a/x"), server("io.github.a/x", "2.0.0")]),
    );
    const asked = await client(registry);
    expect(await failure(asked.get("io.github.a/y"))).toEqual({
      code: "UNKNOWN_SERVER",
      message: `the registry ${registry.url} has no server io.github.a/y`,
      hint: "to look for it: plugboard registry y",
    });
    expect(await failure(asked.get("io.github.a/x", "3.0.0"))).toEqual({
      code: "UNKNOWN_SERVER",
      message: `the registry ${registry.url} has no version 3.0.0 of io.github.a/x`,
      hint: "it has 2.0.0, 1.0.0",
    });
  });
});

describe("a search", () => {
  it("finds the newest versions that have all words, over several pages", async () => {
    const registry = owned(
      await startRegistry([
        ...Array.from({ length: 250 }, (_, at) => server(`io.github.a/files-${at}`)),
        server("io.github.b/files-pdf", "1.0.0"),
        server("io.github.b/files-pdf", "2.0.0"),
        { ...server("io.github.b/files-pdf-old"), status: "deleted" },
      ]),
    );
    const asked = await client(registry);
    const { entries, hasMore } = await asked.search(["PDF", "files"], 30);
    expect(entries.map((each) => [each.server.name, each.server.version])).toEqual([
      ["io.github.b/files-pdf", "2.0.0"],
    ]);
    expect(hasMore).toBe(false);
    expect(registry.asked).toHaveLength(3);
  });

  it("stops where there are enough", async () => {
    const all = Array.from({ length: 500 }, (_, at) => server(`io.github.a/x-${at}`));
    const registry = owned(await startRegistry(all));
    const { entries, hasMore } = await (await client(registry)).search(["x"], 30);
    expect(entries).toHaveLength(30);
    expect(hasMore).toBe(true);
    expect(registry.asked).toHaveLength(1);
  });

  it("leaves out entries that are not valid, and counts them", async () => {
    const registry = owned(
      await startRegistry([
        server("io.github.a/good"),
        server("io.github.a/evil\nname"),
        server("no-slash"),
        server("io.github.a/wrong", "1.0.0", { packages: "npm" }),
        { server: { __proto__: null, name: 5 } },
      ]),
    );
    registry.misbehave = undefined;
    const { entries, broken } = await (await client(registry)).search([], 30);
    expect(entries.map((each) => each.server.name)).toEqual(["io.github.a/good"]);
    expect(broken).toBe(4);
  });
});

describe("a hostile registry", () => {
  const json = (value: unknown) => (_: unknown, response: ServerResponse) =>
    void response.end(typeof value === "string" ? value : JSON.stringify(value));
  const valid = server("io.github.a/x");

  it.each<
    [what: string, misbehave: NonNullable<Registry["misbehave"]>, code: string, message: string]
  >([
    ["that sends no JSON", json("<html>"), "PROTOCOL", "answers with something that is not JSON"],
    [
      "that sends another server",
      json({ server: { ...valid.server, name: "io.github.a/evil" } }),
      "PROTOCOL",
      "answers with another server than io.github.a/x",
    ],
    [
      "that sends another version",
      json({ server: { ...valid.server, version: "6.6.6" } }),
      "PROTOCOL",
      "answers with another version than 1.0.0",
    ],
    [
      "with a name of two lines",
      json({ server: { ...valid.server, name: "io.github.a/x\nok" } }),
      "PROTOCOL",
      "has a server.json that is not valid: server.name: expected a name",
    ],
    [
      "with a version that runs backwards",
      json({ server: { ...valid.server, version: "1.0\u202e.0" } }),
      "PROTOCOL",
      "has a server.json that is not valid: server.version: expected a version",
    ],
    [
      "with wrong types",
      json({ server: { ...valid.server, packages: [{ registryType: 5 }] } }),
      "PROTOCOL",
      "not valid: server.packages.0.registryType: Invalid input: expected string, received number, and 1 more",
    ],
    [
      "with a list in place of a server",
      json([]),
      "PROTOCOL",
      "has a server.json that is not valid",
    ],
    ["with null", json("null"), "PROTOCOL", "has a server.json that is not valid"],
    [
      "with a text without an end",
      json({ server: { ...valid.server, description: "x".repeat(20_000) } }),
      "PROTOCOL",
      "Too big",
    ],
    [
      "with very many packages",
      json({ server: { ...valid.server, packages: Array(5000).fill(0) } }),
      "PROTOCOL",
      "Too big",
    ],
    [
      "with a deep value",
      json(`{"server":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
      "PROTOCOL",
      "answers with more values, or deeper ones, than any server has",
    ],
    [
      "with very many values",
      json({ server: { ...valid.server, more: Array(200_000).fill(0) } }),
      "PROTOCOL",
      "answers with more values, or deeper ones, than any server has",
    ],
    [
      "that sends too much",
      (_, response) => {
        response.writeHead(200);
        const chunk = Buffer.alloc(1024 * 1024, " ");
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      },
      "MESSAGE_TOO_LARGE",
      "is larger than 8 MiB",
    ],
    ["that never answers", () => {}, "TIMEOUT", "gave no usable answer"],
    [
      "that never ends",
      (_, response) => void response.write('{"server":'),
      "TIMEOUT",
      "gave no usable answer",
    ],
    [
      "that fails",
      (_, response) => void response.writeHead(503).end(),
      "HTTP_STATUS",
      "answered with HTTP 503",
    ],
    [
      "that redirects to a private address",
      (_, response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
      "REFUSED_ADDRESS",
      "plain http",
    ],
    [
      "that redirects to a file",
      (_, response) => void response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      "REFUSED_ADDRESS",
      "file:",
    ],
  ])("%s is refused", async (_, misbehave, code, message) => {
    const registry = owned(await startRegistry([valid]));
    registry.misbehave = misbehave;
    const asked = await client(registry, 300);
    const found = await failure(asked.get("io.github.a/x", "1.0.0"));
    expect(found.code).toBe(code);
    expect(found.message).toContain(message);
    expect(found.message).toMatch(new RegExp(`^the registry ${registry.url} `));
    expect(found.hint ?? "").not.toContain("this server");
  });

  it("that redirects to another host is not followed there", async () => {
    const elsewhere = owned(await startRegistry([valid]));
    const registry = owned(await startRegistry());
    registry.misbehave = (request, response) =>
      void response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end();
    const found = await failure((await client(registry)).get("io.github.a/x", "1.0.0"));
    expect(found.message).toContain("redirects to another host");
    expect(elsewhere.asked).toEqual([]);
  });

  it("with pages without an end is asked ten times", async () => {
    const registry = owned(await startRegistry());
    registry.misbehave = (_, response) => {
      const nextCursor = String(registry.asked.length);
      response.end(JSON.stringify({ servers: [], metadata: { nextCursor } }));
    };
    const { entries, hasMore } = await (await client(registry)).search(["x"], 30);
    expect({ entries, hasMore }).toEqual({ entries: [], hasMore: true });
    expect(registry.asked).toHaveLength(10);
  });

  it("with the same page again and again is asked twice", async () => {
    const registry = owned(await startRegistry());
    registry.misbehave = json({ servers: null, metadata: { nextCursor: "again" } });
    expect(await (await client(registry)).search(["x"], 30)).toMatchObject({ entries: [] });
    expect(registry.asked).toHaveLength(2);
  });

  it.each([
    ["a list", "[]", "has no list of servers"],
    ["a text as the list", '{"servers":"x"}', "not a list of servers"],
    ["another API", '{"ok":true}', "has no list of servers"],
  ])("that answers a search with %s is refused", async (_, answer, message) => {
    const registry = owned(await startRegistry());
    registry.misbehave = json(answer);
    expect((await failure((await client(registry)).search(["x"], 30))).message).toContain(message);
  });

  it("cannot change what objects have", async () => {
    const registry = owned(await startRegistry());
    registry.misbehave = json(
      `{"__proto__":{"polluted":1},"server":{"name":"io.github.a/x","description":"","version":"1.0.0","__proto__":{"packages":[]},
      "remotes":[{"type":"sse","url":"https://{__proto__}.example/","variables":{"__proto__":{"isRequired":true},"constructor":{}}}]}}`,
    );
    const { server: found } = await (await client(registry)).get("io.github.a/x", "1.0.0");
    expect(found.remotes[0]?.variables.map(([key]) => key)).toEqual(["__proto__", "constructor"]);
    expect(found.packages).toEqual([]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
