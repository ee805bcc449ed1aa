import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ConfigSource, FileSource } from "../../../src/core/config/find.ts";
import {
  takeFingerprint,
  hashOfFile,
  type Fingerprint,
} from "../../../src/core/config/fingerprint.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { findChannel, isTrustedBy } from "../../../src/cli/attach/find-channel.ts";
import type { CliContext } from "../../../src/cli/context.ts";
import { recordGateway, type RunningGateway } from "../../../src/core/state/running-gateway.ts";
import { digestOf, TrustStore } from "../../../src/core/config/trust/trust-store.ts";
import { readLaunches } from "../../../src/core/config/trust/trust.ts";
import { packageVersion } from "../../../src/util/version.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory = "";
let home = "";
let path = "";

beforeEach(() => {
  directory = temporaryDirectory();
  home = join(directory, "home");
  path = join(directory, "plugboard.json");
  writeFileSync(path, TEXT);
});

const SERVERS = {
  files: { command: "files", args: ["${TOKEN}", "."] },
  docs: { url: "https://example.com/mcp" },
};
const TEXT = JSON.stringify({ agents: { defaults: { mcp: { servers: SERVERS } } } });
const ENV = { PATH: "/bin", TOKEN: "t" };

interface Change extends Partial<RunningGateway> {
  of?: Partial<Fingerprint>;
}

/** A gateway runs for the file, in its directory. */
async function note({ of = {}, ...change }: Change = {}): Promise<void> {
  const file = hashOfFile(Buffer.from(TEXT));
  const agents = [parseAgentConfig({ servers: SERVERS })];
  const taken = takeFingerprint(agents, { file, salt: "s", env: ENV, cwd: directory });
  await recordGateway(home, {
    pid: process.pid,
    since: 1,
    version: packageVersion(),
    config: path,
    channel: { path: "/none.sock", key: "k" },
    fingerprint: { ...taken, ...of },
    ...change,
  });
}

interface Where {
  env?: Record<string, string>;
  cwd?: string;
  source?: ConfigSource;
}

function find(
  options: Partial<CliContext["options"]> = {},
  { env = {}, cwd = directory, source }: Where = {},
) {
  const given: ConfigSource = source ?? { kind: "file", path, from: "flag" };
  const io = { env: { ...ENV, PLUGBOARD_HOME: home, ...env }, cwd, homedir: directory };
  const context = { io, options, clock: new ManualClock(), signal: new AbortController().signal };
  return findChannel(given, context as unknown as CliContext);
}

const PID = process.pid;

describe("a command attaches to the gateway that runs for its file", () => {
  it("with the same version, variables and directory", async () => {
    await note();
    expect(await find()).toMatchObject({
      kind: "attach",
      gateway: { pid: PID, channel: { path: "/none.sock", key: "k" } },
    });
  });

  it("by whatever path the file is named", async () => {
    await note();
    symlinkSync(directory, join(directory, "link"));
    const source: ConfigSource = {
      kind: "file",
      path: join(directory, "link", "plugboard.json"),
      from: "directory",
    };
    expect(await find({}, { source })).toMatchObject({ kind: "attach" });
  });
});

describe("each server is shared by itself", () => {
  const NOT = "server 'files' of the gateway is not shared, because ";

  it.each<[string, () => Where, string[], string]>([
    ["all where nothing differs", () => ({}), ["files", "docs"], ""],
    ["another PATH does not matter", () => ({ env: { PATH: "/none" } }), ["files", "docs"], ""],
    [
      "not one whose variable differs",
      () => ({ env: { TOKEN: "other" } }),
      ["docs"],
      `${NOT}TOKEN is set differently there; to share it, start the gateway again with this TOKEN`,
    ],
    [
      "not one whose program is another",
      () => {
        const bin = join(directory, "bin");
        mkdirSync(bin);
        writeFileSync(join(bin, "files"), "", { mode: 0o755 });
        return { env: { PATH: bin } };
      },
      ["docs"],
      `${NOT}'files' is not on its PATH; to share it, start the gateway again with this PATH, or give the server an absolute path`,
    ],
    [
      "not one that depends on the directory",
      () => {
        const cwd = join(directory, "elsewhere");
        mkdirSync(cwd);
        return { cwd };
      },
      ["docs"],
      `${NOT}it has the relative path ., and the gateway runs in {directory}; to share it, run in that directory, or give the server a "cwd" or an absolute path`,
    ],
    [
      "none where the proxy differs: programs get it too",
      () => ({ env: { HTTPS_PROXY: "http://proxy" } }),
      [],
      ["files", "docs"]
        .map(
          (name) =>
            `server '${name}' of the gateway is not shared, because HTTPS_PROXY is set differently there; to share it, start the gateway again with this HTTPS_PROXY`,
        )
        .join("\n"),
    ],
  ])("%s", async (_, where, shares, reason) => {
    await note();
    const found = await find({}, where());
    if (found.kind !== "attach") throw new Error("it stands alone");
    expect([...found.shares]).toEqual(shares);
    const reasons = [...found.apart.values()].join("\n");
    expect(reasons).toBe(reason.replace("{directory}", directory));
  });
});

describe("a file that lies over the one in the home", () => {
  const OWN = "{}";
  const over = (): FileSource => ({
    kind: "file",
    path,
    from: "directory",
    base: join(home, "plugboard.json"),
  });
  beforeEach(() => {
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, "plugboard.json"), OWN);
  });

  it("is that of the gateway if both files are the same", async () => {
    await note({ of: { base: hashOfFile(Buffer.from(OWN)) } });
    expect(await find({}, { source: over() })).toMatchObject({ kind: "attach" });
  });

  it.each<[string, Change, () => FileSource, string]>([
    [
      "it runs with {own} as it was before. This command starts servers of its own; to apply the file as it is: plugboard reload",
      { of: { base: "other" } },
      over,
      "another text",
    ],
    [
      "it was started without {own}. This command starts servers of its own; to share its servers, start the gateway again without --config",
      {},
      over,
      "a gateway that was started with --config",
    ],
    [
      "it has the servers of {own} too. This command starts servers of its own; to share its servers, start the gateway again with --config, or leave out --config in the directory of the file",
      { of: { base: "any" } },
      () => ({ kind: "file", path, from: "flag" }),
      "a command with --config",
    ],
  ])("else says why: %s", async (reason, change, source) => {
    await note(change);
    const own = join(home, "plugboard.json");
    expect(await find({}, { source: source() })).toMatchObject({
      kind: "standalone",
      reason: `the gateway (pid ${PID}) is not used, because ${reason.replace("{own}", own)}`,
    });
  });
});

describe("a command stands alone", () => {
  it.each<[string, () => ReturnType<typeof find>]>([
    ["without a gateway", () => find()],
    ["with --standalone", async () => (await note(), find({ standalone: true }))],
    ["without a file", async () => (await note(), find({}, { source: { kind: "demo" } }))],
  ])("%s, and says nothing about it", async (_, run) => {
    expect(await run()).toEqual({ kind: "standalone" });
  });

  const ALONE = "This command starts servers of its own; ";
  it.each<[string, Change, () => ReturnType<typeof find>, string]>([
    [
      "with another version",
      { version: "0.0.1" },
      () => find(),
      `it is version 0.0.1, and this is ${packageVersion()}. ${ALONE}to share its servers, start the gateway again`,
    ],
    [
      "with another text of the file",
      { of: { file: "other" } },
      () => find(),
      `it runs with {file} as it was before. ${ALONE}to apply the file as it is: plugboard reload`,
    ],
    [
      "with a file that was not trusted for the gateway",
      { of: { untrusted: true } },
      () => find(),
      `{file} was not trusted when it read the file. ${ALONE}if you trust the file: plugboard trust`,
    ],
    [
      "with a gateway that has no channel",
      { channel: undefined },
      () => find(),
      `it does not let other commands attach. ${ALONE}to share its servers, start the gateway again`,
    ],
    [
      "with a gateway whose note cannot be read",
      { fingerprint: { file: 1 } },
      () => find(),
      `it does not let other commands attach. ${ALONE}to share its servers, start the gateway again`,
    ],
  ])("%s, and says why", async (_, change, run, reason) => {
    await note(change);
    expect(await run()).toMatchObject({
      kind: "standalone",
      reason: `the gateway (pid ${PID}) is not used, because ${reason}`
        .replace("{file}", path)
        .replace("{directory}", directory),
    });
  });

  it("if the file is a named pipe, without waiting for what is written into it", async () => {
    await note();
    rmSync(path);
    execFileSync("mkfifo", [path]);
    expect(await find()).toEqual({ kind: "standalone" });
  });

  it("if the file is gone: reading it says so", async () => {
    await note();
    rmSync(path);
    expect(await find()).toEqual({ kind: "standalone" });
  });
});

describe("the trust that a gateway has noted counts for a command", () => {
  it("while the record is the same, and no longer", async () => {
    const store = new TrustStore(home);
    const { all } = await readLaunches(path);
    await store.approve(path, all, 1);
    const record = await store.find(path);
    if (record === undefined) throw new Error("it was not approved");
    await note({ of: { trust: digestOf(record) } });
    const found = await find();
    if (found.kind !== "attach") throw new Error("it stands alone");
    const source: FileSource = { kind: "file", path, from: "directory" };
    const io = { env: { PLUGBOARD_HOME: home }, homedir: directory } as unknown as CliContext["io"];
    expect(await isTrustedBy(found.gateway, source, io)).toBe(true);
    await store.approve(path, all.slice(1), 2);
    expect(await isTrustedBy(found.gateway, source, io)).toBe(false);
    await store.revoke(path);
    expect(await isTrustedBy(found.gateway, source, io)).toBe(false);
    await note();
    const without = await find();
    if (without.kind !== "attach") throw new Error("it stands alone");
    expect(await isTrustedBy(without.gateway, source, io)).toBe(false);
  });
});
