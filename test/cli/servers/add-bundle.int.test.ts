import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { bundle } from "../../fixtures/bundles/zip.ts";
import { startRegistry } from "../../fixtures/registry/registry.ts";
import { serve } from "../../core/net/servers.ts";
import { asked, useScratch } from "../harness.ts";

const scratch = useScratch();
afterEach(closeAll);

const HELLO = join(import.meta.dirname, "..", "..", "fixtures", "bundles", "hello.mcpb");
const bytes = readFileSync(HELLO);
const sha256 = createHash("sha256").update(bytes).digest("hex");
const NAME = `hello-bundle@1.2.3-${sha256.slice(0, 32)}`;

const project = (): string => join(scratch.directory, "plugboard.json");
const written = () => JSON.parse(readFileSync(project(), "utf8")).mcpServers;
const store = (): string => join(scratch.directory, "home", "bundles");
const bundles = (): string[] =>
  existsSync(store()) ? readdirSync(store()).filter((name) => name !== ".lock") : [];

const PLAIN = { NO_COLOR: "1" };

describe("plugboard add, with a bundle", () => {
  it("asks for its values, shows the command in full, tries it and writes it; remove keeps it for an undo", async () => {
    const origin = await serve((_, response) => response.end(bytes));
    const url = `${origin}/releases/hello.mcpb`;
    const { code, stderr } = await asked(
      scratch,
      ["add", url, "-s", "project", "--secrets", "file"],
      PLAIN,
      ["Give any? [y/N] ", "y\n"],
      ["[Hello] > ", "Good day\n"],
      ["Where it may look", "home\n"],
      ["another one, or Enter to go on", "\n"],
      ["(Enter alone to type none) > ", "hunter2-hunter2\n"],
      ["Add it? [y/N] ", "y\n"],
    );
    expect(stderr).toContain(`Hello Bundle 1.2.3, from ${url}`);
    expect(stderr).toContain("note: it is not signed");
    const place = join(store(), NAME);
    const folder = join(scratch.directory, "home");
    expect(stderr).toContain(
      `hello-bundle: ${process.execPath} ${place}/server/index.js --greeting 'Good day' ${folder}\n`,
    );
    expect(stderr).toContain("hello-bundle answers, and has 1 tool: hello");
    expect(code).toBe(0);
    expect(written()["hello-bundle"]).toMatchObject({
      cwd: place,
      provenance: { kind: "bundle", source: url, version: "1.2.3", hash: `sha256-${sha256}` },
    });

    const called = await scratch.run(["call", "hello-bundle/hello"]);
    expect(JSON.parse(called.stdout)).toEqual({
      args: ["--greeting", "Good day", folder],
      cwd: place,
      HELLO_LITERAL: "${NOT_A_VARIABLE}",
      // It got the value, and what it says of it is hidden.
      HELLO_KEY: "[REDACTED]",
    });
    expect(readFileSync(project(), "utf8")).toContain("/secrets.json#hello-bundle-api_key");

    const { code: removed, stderr: left } = await scratch.run(["remove", "hello-bundle"]);
    expect(removed).toBe(0);
    expect(left).toContain("secrets.json#hello-bundle-api_key");
    expect(bundles()).toContain(NAME);
  });

  it("leaves nothing behind if somebody does not want it", async () => {
    const { code } = await asked(
      scratch,
      ["add", HELLO],
      PLAIN,
      ["Give any? [y/N] ", "n\n"],
      ["Add it? [y/N] ", "n\n"],
    );
    expect(code).not.toBe(0);
    expect(bundles()).toEqual([]);
  });

  it("leaves nothing behind if it is interrupted while the file comes", async () => {
    let isAsked = (): void => {};
    const request = new Promise<void>((resolve) => (isAsked = resolve));
    const origin = await serve((_, response) => {
      response.write("PK");
      isAsked();
    });
    const { events, done } = scratch.start(["add", `${origin}/x.mcpb`, "--yes"]);
    await request;
    events.emit("SIGINT");
    expect((await done).code).toBe(130);
    expect(bundles()).toEqual([]);
  });

  it("says what is wrong with a file, and leaves nothing behind", async () => {
    const file = scratch.file("odd.mcpb", "hello");
    const { code, stderr } = await scratch.run(["add", file, "--yes"]);
    expect(stderr).toContain(`${file} cannot be used: it cannot be read as a zip file`);
    expect(code).toBe(2);
    expect(bundles()).toEqual([]);
  });

  it("keeps one that another file uses, and an older one for an undo", async () => {
    const add = (...words: string[]) => scratch.run(["add", ...words, "--yes", "--no-check"]);
    await add("one", HELLO, "-s", "project");
    await add("two", HELLO, "-s", "user");
    await scratch.run(["remove", "one"]);
    expect(bundles()).toEqual([NAME, `${NAME}.json`]);
    const newer = join(scratch.directory, "tiny.mcpb");
    writeFileSync(newer, bundle());
    await add("two", newer, "-s", "user", "--force");
    expect(bundles().map((name) => name.replace(/-[0-9a-f]{32}/, ""))).toEqual([
      "hello-bundle@1.2.3",
      "hello-bundle@1.2.3.json",
      "tiny@1.0.0",
      "tiny@1.0.0.json",
    ]);
  });
});

describe("plugboard add, with a bundle of the registry", () => {
  async function published(hash: string): Promise<string> {
    const origin = await serve((_, response) => response.end(bytes));
    const identifier = `${origin}/hello.mcpb`;
    const { url } = owned(
      await startRegistry([
        {
          server: {
            name: "io.github.example/hello",
            description: "Says hello",
            version: "1.2.3",
            packages: [
              { registryType: "mcpb", identifier, fileSha256: hash, transport: { type: "stdio" } },
            ],
          },
        },
      ]),
    );
    return url;
  }
  const add = (registry: string) =>
    scratch.run([
      "add",
      "io.github.example/hello",
      "--registry",
      registry,
      "-s",
      "project",
      "--yes",
    ]);

  it("takes the file with the published hash", async () => {
    const { code, stderr } = await add(await published(sha256));
    expect(stderr).toContain("\nhello answers, and has 1 tool: hello");
    expect(code).toBe(0);
    expect(Object.values(written())).toMatchObject([
      {
        cwd: join(store(), NAME),
        provenance: { kind: "registry", name: "io.github.example/hello" },
      },
    ]);
  });

  it("refuses one with another hash, and leaves nothing behind", async () => {
    const { code, stderr } = await add(await published("0".repeat(64)));
    expect(stderr).toContain("it is not the file that was published");
    expect(stderr).toContain(sha256);
    expect(code).toBe(2);
    expect(existsSync(project())).toBe(false);
    expect(bundles()).toEqual([]);
  });
});
