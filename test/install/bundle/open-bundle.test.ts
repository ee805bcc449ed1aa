import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import {
  type BundleSurroundings,
  bundleSource,
  openBundle,
} from "../../../src/install/bundle/open-bundle.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { PlugboardError } from "../../../src/core/types/errors.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { bundle, manifest, zip } from "../../fixtures/bundles/zip.ts";
import { failureOf, openFetch, serve } from "../../core/net/servers.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory = "";
beforeEach(() => {
  directory = temporaryDirectory();
});

const fixture = (name: string): string =>
  join(import.meta.dirname, "..", "..", "fixtures", "bundles", name);

function around(more: Partial<BundleSurroundings> = {}): BundleSurroundings {
  return {
    home: join(directory, "home"),
    homedir: "/home/me",
    env: { PATH: join(directory, "bin") },
    platform: "linux",
    node: { path: "/usr/bin/node", version: "20.19.0" },
    fetch: openFetch(),
    clock: systemClock,
    signal: new AbortController().signal,
    ...more,
  };
}

function open(bytes: Buffer, more?: Partial<BundleSurroundings>) {
  const path = join(directory, "x.mcpb");
  writeFileSync(path, bytes);
  return openBundle({ source: { kind: "file", path } }, around(more));
}

/** What is left in the store, without its lock. */
const left = (): string[] =>
  existsSync(join(directory, "home", "bundles"))
    ? readdirSync(join(directory, "home", "bundles")).filter((name) => name !== ".lock")
    : [];

/** A program on the PATH. */
function program(name: string, script: string): void {
  mkdirSync(join(directory, "bin"), { recursive: true });
  writeFileSync(join(directory, "bin", name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, "bin", name), 0o755);
}

describe("a bundle that the official tool has packed", () => {
  it("is unpacked, and its server is offered", async () => {
    const path = fixture("hello.mcpb");
    const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
    const offer = await openBundle({ source: { kind: "file", path }, sha256: hash }, around());
    const place = join(directory, "home", "bundles", `hello-bundle@1.2.3-${hash.slice(0, 32)}`);
    expect(offer).toMatchObject({
      name: "hello-bundle",
      title: "Hello Bundle",
      description: "Says hello, and tells what it was started with",
      version: "1.2.3",
      notes: ["its author is Plugboard's tests, as it says itself", "it is not signed"],
      inputs: [
        {
          key: "greeting",
          description: "Greeting: The word to begin with",
          isRequired: false,
          isSecret: false,
          format: "string",
          default: "Hello",
        },
        { key: "folders", format: "directory", isMultiple: true },
        { key: "api_key", isSecret: true, variable: "HELLO_BUNDLE_API_KEY", format: "string" },
      ],
      provenance: {
        kind: "bundle",
        source: path,
        name: "hello-bundle",
        version: "1.2.3",
        hash: `sha256-${hash}`,
      },
    });
    const entry = offer.build(new Map([["api_key", ["${HELLO_BUNDLE_API_KEY}"]]]));
    expect(entry).toEqual({
      command: "/usr/bin/node",
      args: [`${place}/server/index.js`, "--greeting", "Hello"],
      env: { HELLO_KEY: "${HELLO_BUNDLE_API_KEY}", HELLO_LITERAL: "$${NOT_A_VARIABLE}" },
      cwd: place,
    });
    expect(() =>
      parseAgentConfig({ servers: { hello: { ...entry, provenance: offer.provenance } } }),
    ).not.toThrow();
    const packed = readFileSync(fixture("hello/server/index.js"));
    expect(readFileSync(join(place, "server", "index.js")).equals(packed)).toBe(true);
  });

  it("and signed is used too, with a word on the signature", async () => {
    const source = { kind: "file", path: fixture("hello-signed.mcpb") } as const;
    const { notes } = await openBundle({ source }, around());
    expect(notes).toContain("it has a signature, which Plugboard does not verify");
  });
});

describe("what a person should know", () => {
  const python = {
    type: "python",
    entry_point: "a.py",
    mcp_config: { command: "python", args: ["a.py"] },
  };

  it("is which privacy policies there are, and which Node it needs", async () => {
    const { notes } = await open(
      bundle({
        privacy_policies: ["https://example.com/privacy"],
        compatibility: { runtimes: { node: ">=99" } },
      }),
    );
    expect(notes).toContain("warning: it needs Node >=99, and you have 20.19.0");
    expect(notes).toContain("privacy: https://example.com/privacy");
  });

  it("is that a program is missing", async () => {
    const server = { type: "uv", entry_point: "a.py" };
    const { notes, build } = await open(bundle({ server }));
    expect(notes).toContain("warning: it needs uv, which is not on your PATH");
    expect(build(new Map()).command).toBe("uv");
  });

  it("is which Python there is; python3 does where there is no python", async () => {
    program("python3", "echo Python 3.7.1");
    const compatibility = { runtimes: { python: ">=3.8" } };
    const { notes, build } = await open(bundle({ server: python, compatibility }));
    expect(notes).toContain("warning: it needs Python >=3.8, and you have 3.7.1");
    expect(build(new Map()).command).toBe("python3");
  });

  it("is found out without running anything that the bundle names", async () => {
    const trap = join(directory, "trap");
    writeFileSync(trap, `#!/bin/sh\ntouch ${join(directory, "sprung")}\necho Python 3.12.0\n`);
    chmodSync(trap, 0o755);
    const compatibility = { runtimes: { python: ">=3.8" } };
    const server = { ...python, mcp_config: { command: trap, args: [] } };
    const { notes } = await open(bundle({ server, compatibility }));
    expect(notes).toContain("it needs Python >=3.8, and which version you have is not known");
    expect(existsSync(join(directory, "sprung"))).toBe(false);
  });

  it("is not known of a Python that says nonsense", async () => {
    program("python", "echo hello");
    const compatibility = { runtimes: { python: ">=3.8" } };
    const { notes, build } = await open(bundle({ server: python, compatibility }));
    expect(notes).toContain("it needs Python >=3.8, and which version you have is not known");
    expect(build(new Map()).command).toBe("python");
  });
});

const MEBIBYTE = 1024 * 1024;

describe("a bundle that cannot be used leaves nothing behind", () => {
  const CASES: [what: string, bytes: () => Buffer, said: string][] = [
    ["no zip file", () => Buffer.from("hello"), "it cannot be read as a zip file"],
    ["no manifest", () => zip([{ name: "a", content: "" }]), "it has no manifest.json"],
    [
      "a manifest in a directory",
      () => zip([{ name: "tiny/manifest.json", content: JSON.stringify(manifest()) }]),
      "pack what is in the directory",
    ],
    [
      "a manifest that is a directory",
      () => zip([{ name: "manifest.json/", mode: 0o040755 }]),
      "it has no manifest.json",
    ],
    [
      "a huge manifest",
      () => bundle({ long_description: "x".repeat(2 * MEBIBYTE) }),
      "its manifest.json is larger than 1 MiB",
    ],
    [
      "a manifest that unpacks to more than it says",
      () =>
        zip([
          {
            name: "manifest.json",
            raw: deflateRawSync(Buffer.alloc(8 * MEBIBYTE)),
            declaredSize: 100,
          },
        ]),
      "'manifest.json' in it is damaged",
    ],
    [
      "another system",
      () => bundle({ compatibility: { platforms: ["darwin"] } }),
      "it is for macOS",
    ],
    ["a way out", () => bundle({}, [{ name: "../evil", content: "x" }]), `has ".." in its path`],
    [
      "a link",
      () => bundle({}, [{ name: "link", content: "/etc/passwd", mode: 0o120777 }]),
      "is a symbolic link",
    ],
    [
      "a damaged file at the end",
      () => bundle({}, [{ name: "b", content: "x", declaredSum: 7 }]),
      "'b' in it is damaged",
    ],
    [
      "a bomb at the end",
      () => bundle({}, [{ name: "b", content: Buffer.alloc(24 * MEBIBYTE) }]),
      "it is too large unpacked",
    ],
    [
      "a reference to a secret",
      () =>
        bundle({
          server: {
            type: "node",
            entry_point: "a",
            mcp_config: { command: "node", args: ["secret://env/A"] },
          },
        }),
      "makes a reference to your secrets",
    ],
    [
      "a default that refers to a secret",
      () =>
        bundle({
          user_config: {
            a: { type: "string", title: "", description: "", default: "secret://env/A" },
          },
        }),
      "makes a reference to your secrets",
    ],
  ];
  for (const [what, bytes, said] of CASES) {
    it(`for ${what}`, async () => {
      const { code, message } = (await failureOf(open(bytes()))) as PlugboardError;
      expect(code).toBe("INVALID_ARGUMENTS");
      expect(message).toContain("x.mcpb cannot be used: ");
      expect(message).toContain(said);
      expect(left()).toEqual([]);
      expect(existsSync(join(directory, "evil"))).toBe(false);
      expect(existsSync(join(directory, "home", "evil"))).toBe(false);
    });
  }

  it("another hash than the published one", async () => {
    const bytes = bundle();
    const origin = await serve((_, response) => response.end(bytes));
    const url = `${origin}/releases/x.mcpb?token=abc`;
    const opening = openBundle({ source: { kind: "url", url }, sha256: "0".repeat(64) }, around());
    await expect(opening).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining(
        `${origin}/releases/x.mcpb?… cannot be used: it is not the file that was published`,
      ),
    });
    expect(left()).toEqual([]);
  });

  it("an interrupted command", async () => {
    const opening = open(bundle(), { signal: AbortSignal.abort() });
    await expect(opening).rejects.toMatchObject({ code: "CANCELLED" });
    expect(left()).toEqual([]);
  });
});

it("the query of an address is not written down: it may hold a key", async () => {
  const bytes = bundle();
  const origin = await serve((_, response) => response.end(bytes));
  const source = { kind: "url", url: `${origin}/x.mcpb?token=abc#part` } as const;
  const { provenance } = await openBundle({ source }, around());
  expect(provenance).toMatchObject({ source: `${origin}/x.mcpb` });
});

it("several that come as defaults are taken together, unless others are given", async () => {
  const user_config = {
    dirs: {
      type: "directory",
      title: "D",
      description: "",
      multiple: true,
      required: true,
      default: ["${HOME}/a", "${HOME}/b"],
    },
  };
  const server = {
    type: "node",
    entry_point: "a",
    mcp_config: { command: "node", args: ["${user_config.dirs}"] },
  };
  const { inputs, build } = await open(bundle({ user_config, server }));
  expect(inputs).toMatchObject([
    { isRequired: false, description: "D: by default /home/me/a, /home/me/b" },
  ]);
  expect(build(new Map()).args).toEqual(["/home/me/a", "/home/me/b"]);
  expect(build(new Map([["dirs", ["/c"]]])).args).toEqual(["/c"]);
});

it("a bundle is a URL or a path from where you are", () => {
  const url = "https://example.com/x.mcpb";
  expect(bundleSource(url, "/w")).toEqual({ kind: "url", url });
  expect(bundleSource("a/x.mcpb", "/w")).toEqual({ kind: "file", path: "/w/a/x.mcpb" });
});
