import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type BundleSource, receive } from "../../../src/install/bundle/receive.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { failureOf, openFetch, serve } from "../../core/net/servers.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory = "";
beforeEach(() => {
  directory = temporaryDirectory();
});

const fixture = (name: string): string =>
  join(import.meta.dirname, "..", "..", "fixtures", "bundles", name);
const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");
const target = (): string => join(directory, "copy");
const never = new AbortController().signal;

const get = (source: BundleSource, hash?: string, clock = systemClock) =>
  receive(source, target(), hash, { fetch: openFetch({ clock }), clock, signal: never });

describe("a bundle on this machine", () => {
  it("is copied and hashed", async () => {
    const path = fixture("hello.mcpb");
    const bytes = readFileSync(path);
    expect(await get({ kind: "file", path })).toEqual({
      sha256: sha256(bytes),
      size: bytes.length,
      isSigned: false,
    });
    expect(readFileSync(target()).equals(bytes)).toBe(true);
    expect(statSync(target()).mode & 0o777).toBe(0o600);
  });

  it("that is signed is hashed with its signature, and kept without", async () => {
    const path = fixture("hello-signed.mcpb");
    const plain = readFileSync(fixture("hello.mcpb"));
    expect(await get({ kind: "file", path })).toEqual({
      sha256: sha256(readFileSync(path)),
      size: plain.length,
      isSigned: true,
    });
    expect(readFileSync(target()).equals(plain)).toBe(true);
  });

  it("whose signature is the comment of the zip file is kept whole", async () => {
    const [plain, signed] = ["hello.mcpb", "hello-signed.mcpb"].map((each) =>
      readFileSync(fixture(each)),
    ) as [Buffer, Buffer];
    signed.writeUInt16LE(signed.length - plain.length, plain.length - 2);
    const path = join(directory, "commented.mcpb");
    writeFileSync(path, signed);
    expect(await get({ kind: "file", path })).toMatchObject({
      isSigned: true,
      size: signed.length,
    });
  });

  for (const [what, bytes] of [
    ["the end of a signature alone", "MCPB_SIG_END"],
    ["less than that", "END"],
    ["nothing", ""],
  ] as const) {
    it(`may be ${what}`, async () => {
      const path = join(directory, "odd.mcpb");
      writeFileSync(path, bytes);
      expect(await get({ kind: "file", path })).toMatchObject({
        size: bytes.length,
        isSigned: false,
      });
    });
  }

  it("that is not there, or is no file, is said to be so", async () => {
    const path = join(directory, "none.mcpb");
    await expect(get({ kind: "file", path })).rejects.toThrow("there is no such file");
    rmSync(target());
    await expect(get({ kind: "file", path: directory })).rejects.toThrow("it is not a file");
  });
});

describe("a bundle at an address", () => {
  it("is fetched, and must have the hash that was published", async () => {
    const origin = await serve((_, response) => response.end("bytes"));
    const source: BundleSource = { kind: "url", url: `${origin}/x.mcpb` };
    expect(await get(source, sha256("bytes").toUpperCase())).toMatchObject({ size: 5 });
    rmSync(target());
    await expect(get(source, sha256("other"))).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringMatching(
        new RegExp(`found: +${sha256("bytes")}\\n +expected: +${sha256("other")}`),
      ),
    });
  });

  it("must be on this machine, or come over https", async () => {
    const fetching = get({ kind: "url", url: "http://example.com/x.mcpb" });
    await expect(fetching).rejects.toMatchObject({ code: "REFUSED_ADDRESS" });
  });

  it("that is not there is reported with the status", async () => {
    const origin = await serve((_, response) => response.writeHead(404).end("no"));
    await expect(get({ kind: "url", url: `${origin}/x.mcpb` })).rejects.toMatchObject({
      code: "HTTP_STATUS",
      status: 404,
    });
  });

  it("is given up when its server stops in the middle", async () => {
    const clock = new ManualClock();
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("PK");
    });
    const fetching = get({ kind: "url", url: `${origin}/x.mcpb` }, undefined, clock);
    const failure = failureOf(fetching);
    while (!isWritten()) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(30_000);
    expect(await failure).toMatchObject({
      code: "TIMEOUT",
      message: expect.stringContaining("has sent nothing for 30 s"),
    });
  });

  it("is given up when its server breaks off", async () => {
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("PK", () => response.destroy());
    });
    await expect(get({ kind: "url", url: `${origin}/x.mcpb` })).rejects.toMatchObject({
      code: expect.stringMatching(/CONNECTION_CLOSED|NETWORK/),
    });
  });

  it("that never ends is given up at the largest size", async () => {
    const chunk = Buffer.alloc(4 * 1024 * 1024);
    const origin = await serve((_, response) => {
      const more = (): void => {
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    });
    await expect(get({ kind: "url", url: `${origin}/x.mcpb` })).rejects.toThrow(
      "it is larger than 512 MiB",
    );
  });
});

function isWritten(): boolean {
  return statSync(target(), { throwIfNoEntry: false })?.size === 2;
}
