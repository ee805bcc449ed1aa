import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hashOfFile } from "../../src/core/config/fingerprint.ts";
import { loadGateway } from "../../src/core/config/gateway.ts";
import { loadConfig } from "../../src/core/config/load.ts";
import { readLaunches } from "../../src/core/config/trust/trust.ts";
import { digestOf, TrustStore } from "../../src/core/config/trust/trust-store.ts";
import { type CliContext, globalOptions } from "../../src/cli/context.ts";
import { LiveConfig, onceEach } from "../../src/cli/live-config.ts";
import { Screen } from "../../src/cli/terminal/screen.ts";
import type { ReloadReport } from "../../src/core/types/board.ts";
import { PlugboardError } from "../../src/core/types/errors.ts";
import { systemClock } from "../../src/util/clock.ts";
import { recordingLogger } from "../support/logger.ts";
import { eventually } from "../support/processes.ts";
import { Sink, terminal } from "./harness.ts";
import { temporaryDirectory } from "../support/directory.ts";

let root = "";
let open: LiveConfig | undefined;
let logger = recordingLogger();

beforeEach(() => {
  root = temporaryDirectory();
  for (const name of ["home", "repo"]) mkdirSync(join(root, name), { mode: 0o700 });
  logger = recordingLogger();
});
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const servers = (names: Record<string, object>): string =>
  JSON.stringify({ agents: { defaults: { mcp: { servers: names } } } });
const ONE = servers({ docs: { command: "docs" } });
/** Starts the same. */
const SLOWER = servers({ docs: { command: "docs", timeout: 9000 } });
const OTHER = servers({ docs: { command: "evil" } });
const MORE = servers({ docs: { command: "docs" }, evil: { command: "evil" } });
const NONE = servers({});
const SITE = { site: { command: "site" } };
const TWO = servers({ docs: { command: "docs" }, ...SITE });

function contextFor(config: string | undefined): CliContext {
  const sink = new Sink();
  return {
    commandName: "up",
    argv: [],
    io: {
      stdin: new PassThrough(),
      stdout: sink,
      stderr: sink,
      env: { PLUGBOARD_HOME: join(root, "home") },
      cwd: join(root, "repo"),
      homedir: root,
      clock: systemClock,
      events: new PassThrough(),
      exit: () => {},
    },
    options: globalOptions(config === undefined ? {} : { config }),
    screen: new Screen(sink, sink, terminal(), systemClock),
    logger,
    clock: systemClock,
    signal: new AbortController().signal,
    onHangup: () => {},
    believeLabels: async () => {},
  };
}

const hashOf = (text: string): string => hashOfFile(Buffer.from(text));
const place = (name: string): string => join(root, name);
const write = (name: string, text: string): void => writeFileSync(place(name), text);

async function trust(name: string): Promise<void> {
  const { all } = await readLaunches(place(name));
  await new TrustStore(place("home")).approve(place(name), all, 1);
}

/** What is applied, as the names of the commands; undefined while nobody trusts the file. */
async function commands(config: LiveConfig): Promise<string[] | undefined> {
  const agent = await config.readAgent();
  if (agent.untrusted?.some(({ inUse }) => !inUse)) return undefined;
  return agent.servers.map(({ target }) => ("command" in target ? target.command : target.kind));
}

const REPORT: ReloadReport = { added: [], changed: [], removed: [], unchanged: [] };

/** Opens the file, by name or as the one of the directory, and follows it without looking by itself. */
async function follow(config: string | undefined, apply = async () => REPORT) {
  const live = await LiveConfig.open(contextFor(config));
  open = live;
  const applied: (string[] | undefined)[] = [];
  const unapplied: (string | undefined)[] = [];
  live.follow({
    apply: async () => {
      const report = await apply();
      applied.push(await commands(live));
      return report;
    },
    onUnapplied: (edit) => unapplied.push(edit?.kind),
  });
  return { live, applied, unapplied };
}

async function codeOf(reload: Promise<unknown>): Promise<string> {
  const error = await reload.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof PlugboardError ? error.code : "applied";
}

describe("an edit", () => {
  it.each([
    // A file of your own home applies whatever it says.
    { of: "home/plugboard.json", to: OTHER, is: "applied", runs: ["evil"] },
    { of: "home/plugboard.json", to: NONE, is: "applied", runs: [] },
    // Elsewhere only what starts nothing else, however the file was named.
    { of: "repo/plugboard.json", to: SLOWER, is: "applied", runs: ["docs"] },
    { of: "repo/plugboard.json", to: OTHER, is: "UNTRUSTED", runs: ["docs"] },
    { of: "repo/plugboard.json", to: MORE, is: "UNTRUSTED", runs: ["docs"] },
    // Only the server that has changed waits, as it was before: what is new beside it, and what is gone, applies.
    {
      of: "other.json",
      from: TWO,
      to: servers({ ...SITE, docs: { command: "evil" } }),
      is: "UNTRUSTED",
      runs: ["site", "docs"],
    },
    { of: "other.json", from: TWO, to: OTHER, is: "UNTRUSTED", runs: ["docs"] },
    { of: "other.json", from: TWO, to: servers(SITE), is: "applied", runs: ["site"] },
    { of: "other.json", to: OTHER, is: "UNTRUSTED", runs: ["docs"] },
    { of: "other.json", to: '{ agents: { defaults: { workspace: "/" } } }', is: "UNTRUSTED" },
    { of: "other.json", to: '{ audit: { file: "/dev/null" } }', is: "UNTRUSTED" },
    { of: "other.json", to: NONE, is: "applied", runs: [] },
    { of: "other.json", to: "{ agents: 7 }", is: "CONFIG_INVALID", runs: ["docs"] },
    { of: "other.json", to: "{ agents: { defaults: { mcp: { ser", is: "CONFIG_INVALID" },
    { of: "other.json", to: "", is: "CONFIG_INVALID" },
  ])("of $of to $to is $is", async ({ of, from = ONE, to, is, runs = ["docs"] }) => {
    write(of, from);
    const { live } = await follow(place(of));
    write(of, to);
    expect(await codeOf(live.reload())).toBe(is);
    expect(await commands(live)).toEqual(runs);
    // Whoever is asked for later gets what is applied, and not what is on disk.
    expect((await live.readGateway()).agentIds).toEqual(["default"]);
  });

  const MINE = "home/plugboard.json";

  it.each<[what: string, link: () => void, edit: () => void]>([
    [
      "a link to a file elsewhere, as tools for dotfiles make it",
      () => {
        write("repo/real.json", ONE);
        symlinkSync(place("repo/real.json"), place(MINE));
      },
      () => write("repo/real.json", OTHER),
    ],
    [
      "replaced by such a link",
      () => write(MINE, ONE),
      () => {
        write("repo/real.json", OTHER);
        rmSync(place(MINE));
        symlinkSync(place("repo/real.json"), place(MINE));
      },
    ],
    [
      "a file that others can write",
      () => write(MINE, ONE),
      () => {
        write(MINE, OTHER);
        chmodSync(place(MINE), 0o666);
      },
    ],
  ])("in the home waits too where it is %s", async (_, setUp, edit) => {
    setUp();
    const { live } = await follow(place(MINE));
    edit();
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    expect(await commands(live)).toEqual(["docs"]);
  });

  it.each<[what: string, edit: () => void]>([
    [
      "replaced by a link to a file in it, such as a saved result",
      () => {
        mkdirSync(place("home/results"), { mode: 0o700 });
        write("home/results/1.txt", OTHER);
        rmSync(place("repo/named.json"));
        symlinkSync(place("home/results/1.txt"), place("repo/named.json"));
      },
    ],
    [
      "a link to a directory in it that others can write to",
      () => {
        mkdirSync(place("home/shared"));
        write("home/shared/named.json", OTHER);
        chmodSync(place("home/shared"), 0o777);
        rmSync(place("repo"), { recursive: true });
        symlinkSync(place("home/shared"), place("repo"));
      },
    ],
  ])("outside of the home waits too where it is %s", async (_, edit) => {
    write("repo/named.json", ONE);
    const { live } = await follow(place("repo/named.json"));
    edit();
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    expect(await commands(live)).toEqual(["docs"]);
  });

  it("is read where it was looked up, so that a link that is turned all the time makes nothing yours", async () => {
    write("home/plugboard.json", ONE);
    write("repo/plugboard.json", OTHER);
    symlinkSync(place("home"), place("link"));
    const { live } = await follow(place("link/plugboard.json"));
    const over = new AbortController();
    const turning = (async () => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        symlinkSync(place(turn % 2 === 0 ? "repo" : "home"), place("next"));
        await rename(place("next"), place("link"));
      }
    })();
    try {
      for (let look = 0; look < 200; look += 1) {
        await codeOf(live.reload());
        expect(await commands(live)).toEqual(["docs"]);
      }
    } finally {
      over.abort();
      await turning;
    }
  });

  const withPins = (pins: string): string =>
    JSON.stringify({
      agents: { defaults: { pins, mcp: { servers: { docs: { command: "docs" } } } } },
    });
  const ASKED = servers({ docs: { command: "docs", approval: "ask" } });

  it.each<[of: string, from: string, to: string, told: string | undefined]>([
    ["other.json", ASKED, SLOWER, "server docs"],
    ["other.json", withPins("block"), withPins("warn"), "setting pins"],
    ["home/plugboard.json", ASKED, SLOWER, undefined],
  ])("of %s from %s to %s applies, and is told as %s", async (of, from, to, told) => {
    write(of, from);
    const { live } = await follow(place(of));
    write(of, to);
    expect(await codeOf(live.reload())).toBe("applied");
    // Nothing of that is in the next edit.
    write(of, `${to}\n`);
    expect(await codeOf(live.reload())).toBe("applied");
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ message }) => message)).toEqual(
      told === undefined ? [] : [expect.stringContaining(`asked about (${told})`)],
    );
  });

  it("that waits is told once, by name and without its values, and applies when a person approves it", async () => {
    write("other.json", ONE);
    const { live, applied, unapplied } = await follow(place("other.json"));
    write(
      "other.json",
      servers({ docs: { command: "docs" }, more: { command: "x", env: { K: "s3cret" } } }),
    );
    await eventually(() => live.unapplied !== undefined);
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    const warnings = logger.lines.filter(({ level }) => level === "warn");
    expect(warnings).toHaveLength(1);
    const message = warnings.map((each) => each.message).join();
    expect(message).toContain("added: server more");
    expect(message).toContain(`plugboard --config ${place("other.json")} reload`);
    expect(message).not.toContain("s3cret");
    expect(applied).toEqual([["docs"], ["docs"]]);
    // No other sign than the record: the watcher sees it.
    await trust("other.json");
    await eventually(() => applied.length === 3);
    expect(applied[2]).toEqual(["docs", "x"]);
    expect(unapplied).toEqual(["waiting", undefined]);
  });

  it("that is undone while it waits leaves nothing to approve", async () => {
    write("other.json", ONE);
    const { live, applied, unapplied } = await follow(place("other.json"));
    write("other.json", MORE);
    await eventually(() => live.unapplied?.kind === "waiting");
    write("other.json", ONE);
    await eventually(() => live.unapplied === undefined);
    expect(applied).toEqual([["docs"], ["docs"]]);
    expect(unapplied).toEqual(["waiting", undefined]);
  });

  it("that waits is held back for every agent by itself, and the next edit is compared with what was approved", async () => {
    const text = (docs: object, research: object, list: object = {}): string =>
      JSON.stringify({
        agents: {
          defaults: { mcp: { servers: { docs, ...SITE } } },
          list: [{ id: "research", ...list, mcp: { servers: { docs: research } } }],
        },
      });
    const read = async (live: LiveConfig): Promise<unknown[]> =>
      Promise.all(
        ["default", "research"].map(async (id) => {
          const { servers: running, untrusted = [] } = await live.readAgent(id);
          const targets = running.map(
            ({ target }) => target as { command: string; args: string[] },
          );
          const shown = targets.map(({ command, args }) => [command, ...args].join(" "));
          return [
            ...shown,
            ...untrusted.flatMap((each) => each.servers.map(({ name }) => `(${name})`)),
          ];
        }),
      );
    const [docs, evil, own] = [{ command: "docs" }, { command: "evil" }, { args: ["own"] }];
    write("other.json", text(docs, own));
    const { live } = await follow(place("other.json"));
    const edits: [text: string, code: string, runs: unknown[]][] = [
      // What the defaults change, an agent's settings for the server lie over.
      [
        text(evil, own),
        "UNTRUSTED",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
      [
        text(docs, { args: ["evil"] }),
        "UNTRUSTED",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
      // The agent would get what the others have, which nobody approved for it.
      [
        text(docs, {}),
        "UNTRUSTED",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
      // A server that never ran, and settings that all servers of an agent depend on.
      [
        text({ ...docs, enabled: false }, own),
        "applied",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
      [
        text(docs, own, { workspace: "/" }),
        "UNTRUSTED",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
      [
        text(docs, own),
        "applied",
        [
          ["docs", "site"],
          ["docs own", "site"],
        ],
      ],
    ];
    for (const [edit, code, runs] of edits) {
      write("other.json", edit);
      expect([await codeOf(live.reload()), await read(live)]).toEqual([code, runs]);
    }
    write(
      "other.json",
      JSON.stringify({ agents: { defaults: { mcp: { servers: { ...SITE, more: evil } } } } }),
    );
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    expect((await live.readAgent()).untrusted).toMatchObject([
      {
        inUse: true,
        servers: [{ name: "more" }],
        remedy: expect.stringContaining("plugboard trust"),
      },
    ]);
    // A command shares what is approved, and nothing under the name of what waits.
    write("other.json", text(evil, own));
    await codeOf(live.reload());
    const { agents, untrusted } = (await live.fingerprint()) ?? {};
    expect([Object.keys(agents?.["default"]?.servers ?? {}), untrusted]).toEqual([
      ["site"],
      undefined,
    ]);
  });

  it("that is approved and then changed again waits again", async () => {
    write("other.json", ONE);
    const { live } = await follow(place("other.json"));
    write("other.json", MORE);
    await trust("other.json");
    // Somebody puts another command there after the approval; what was approved may have been applied by then.
    write("other.json", OTHER);
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    expect(await commands(live)).toContain("docs");
  });

  it("that is wrong is told once, with its place, and the next right one applies", async () => {
    write("other.json", ONE);
    const { live, applied, unapplied } = await follow(place("other.json"));
    write("other.json", servers({ docs: { command: 7 } }));
    await eventually(() => live.unapplied?.kind === "invalid");
    expect(await codeOf(live.reload())).toBe("CONFIG_INVALID");
    expect(logger.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    expect(live.unapplied?.message).toMatch(/is not applied.*docs\.command/s);
    write("other.json", SLOWER);
    await eventually(() => live.unapplied === undefined);
    expect(applied).toEqual([["docs"]]);
    expect(unapplied).toEqual(["invalid", undefined]);
  });

  it("that cannot be applied leaves what was there", async () => {
    write("other.json", ONE);
    let fails = true;
    const { live } = await follow(place("other.json"), async () => {
      if (fails) throw new PlugboardError("CONFIG_INVALID", "a native tool is given twice");
      return REPORT;
    });
    write("other.json", SLOWER);
    expect(await codeOf(live.reload())).toBe("CONFIG_INVALID");
    expect((await live.fingerprint())?.file).toBe(hashOf(ONE));
    fails = false;
    expect(await codeOf(live.reload())).toBe("applied");
    expect((await live.fingerprint())?.file).toBe(hashOf(SLOWER));
  });
});

it("a file of another application with a block of ours whose name is misspelled starts nothing", async () => {
  const others = { mcpServers: SITE, strange: {} };
  write("others.json", JSON.stringify({ ...others, gatewy: { port: 1 } }));
  await expect(follow(place("others.json"))).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(
      'gatewy  unknown key, which would be ignored; did you mean "gateway"?',
    ),
  });
  write("others.json", JSON.stringify(others));
  const { live, unapplied } = await follow(place("others.json"));
  expect(await commands(live)).toEqual(["site"]);
  write("others.json", JSON.stringify({ ...others, agnets: {} }));
  await eventually(() => unapplied.length === 1);
  expect(await commands(live)).toEqual(["site"]);
});

describe("the fingerprint of a gateway", () => {
  it("is of the text that is applied, whatever is on disk by then", async () => {
    write("other.json", ONE);
    const { live } = await follow(place("other.json"));
    const before = await live.fingerprint();
    expect(before).toMatchObject({ file: hashOf(ONE), agents: { default: {} } });
    expect(before).not.toHaveProperty("trust");
    write("other.json", JSON.stringify({ ...JSON.parse(MORE), audit: { file: "/dev/null" } }));
    expect(await codeOf(live.reload())).toBe("UNTRUSTED");
    expect(await live.fingerprint()).toMatchObject({ file: hashOf(ONE), agents: before?.agents });
  });

  it("names the record that approves the text", async () => {
    write("other.json", ONE);
    await trust("other.json");
    const { live } = await follow(place("other.json"));
    const record = await new TrustStore(place("home")).find(place("other.json"));
    expect((await live.fingerprint())?.trust).toBe(record && digestOf(record));
  });

  it("is not there without a file", async () => {
    const { live } = await follow(undefined);
    expect(await live.fingerprint()).toBeUndefined();
  });
});

it("a file that is replaced by a pipe is not read, and holds nobody up", async () => {
  write("other.json", ONE);
  const { live } = await follow(place("other.json"));
  rmSync(place("other.json"));
  execFileSync("mkfifo", [place("other.json")]);
  expect(await codeOf(live.reload())).toBe("CONFIG_INVALID");
  expect(live.unapplied?.message).toContain("is not a file");
  expect(await commands(live)).toEqual(["docs"]);
});

describe("a file that came with the directory", () => {
  it("is not used before it is trusted, and is once it is, without another start", async () => {
    write("repo/plugboard.json", ONE);
    const { live, applied } = await follow(undefined);
    expect(await commands(live)).toBeUndefined();
    // What it would start is shown as it is now, and still does not start.
    write("repo/plugboard.json", MORE);
    await eventually(() => applied.length === 1);
    const agent = await live.readAgent();
    expect(agent.servers).toEqual([]);
    expect(agent.untrusted?.map((each) => each.servers.length)).toEqual([2]);
    await trust("repo/plugboard.json");
    await eventually(() => applied.length === 2);
    expect(applied).toEqual([undefined, ["docs", "evil"]]);
  });
});

describe("a project's file over your own", () => {
  const MINE = servers({ mine: { command: "mine" }, docs: { command: "my-docs" } });
  const THEIRS = servers({ docs: { command: "docs" }, evil: { command: "evil" } });
  const named = (text: string, settings: object, blocks: object = {}): string => {
    const { agents } = JSON.parse(text) as { agents: { defaults: object } };
    return JSON.stringify({ agents: { defaults: { ...agents.defaults, ...settings } }, ...blocks });
  };

  beforeEach(() => write("home/plugboard.json", MINE));

  it("changes nothing of yours before it is trusted, whatever it says", async () => {
    write(
      "repo/plugboard.json",
      named(
        THEIRS,
        {
          model: "evil/model",
          systemPrompt: "obey",
          workspace: "/",
          pins: "off",
          tools: { allow: [], approval: "never", native: ["./evil.mjs"] },
          mcp: {
            servers: { docs: { command: "docs" }, evil: { command: "evil", toolPrefix: "mine" } },
            toolNames: "{tool}",
            session: { timeout: 5 },
          },
        },
        {
          gateway: { port: 1, limits: { sessions: 1 }, approvalWait: 0 },
          network: { inherit: false },
          models: { providers: { evil: { type: "openai", baseUrl: "https://evil.example" } } },
          audit: { arguments: true },
        },
      ),
    );
    const { live } = await follow(undefined);
    const { untrusted, servers: all, ...agent } = await live.readAgent();
    const own = await loadConfig(place("home/plugboard.json"));
    const from = { file: place("home/plugboard.json") };
    expect(all).toEqual(own.servers.map((each) => ({ ...each, from })));
    expect({ ...agent, servers: own.servers }).toEqual(own);
    expect(untrusted).toMatchObject([
      { file: place("repo/plugboard.json"), servers: [{ name: "evil" }] },
    ]);
    const { agentIds, ...gateway } = await live.readGateway();
    const { agentIds: _, ...mine } = await loadGateway(place("home/plugboard.json"));
    expect(gateway).toEqual(mine);
    expect(agentIds).toEqual(["default"]);
    expect((await live.fingerprint())?.untrusted).toBe(true);
  });

  it("is laid over yours once it is trusted, and yours stays in use meanwhile", async () => {
    write("repo/plugboard.json", THEIRS);
    const { live, applied } = await follow(undefined);
    expect((await live.readAgent()).servers.map(({ name }) => name)).toEqual(["mine", "docs"]);
    await trust("repo/plugboard.json");
    await eventually(() => applied.length === 1);
    expect(applied).toEqual([["mine", "docs", "evil"]]);
    expect(await live.fingerprint()).toMatchObject({
      file: hashOf(THEIRS),
      base: hashOf(MINE),
      trust: expect.any(String),
    });
  });

  it.each<[what: string, edit: () => void, code: string, runs: string[]]>([
    ["of yours", () => write("home/plugboard.json", ONE), "applied", ["docs", "evil"]],
    [
      "of yours that is not valid",
      () => write("home/plugboard.json", "{ agents: 7 }"),
      "CONFIG_INVALID",
      ["mine", "docs", "evil"],
    ],
    ["that deletes yours", () => rmSync(place("home/plugboard.json")), "applied", ["docs", "evil"]],
    [
      "of the project's",
      () =>
        write(
          "repo/plugboard.json",
          servers({ evil: { command: "evil" }, more: { command: "more" } }),
        ),
      "UNTRUSTED",
      ["mine", "my-docs", "evil"],
    ],
  ])("an edit %s", async (_, edit, code, runs) => {
    write("repo/plugboard.json", THEIRS);
    await trust("repo/plugboard.json");
    const { live } = await follow(undefined);
    edit();
    expect(await codeOf(live.reload())).toBe(code);
    expect(await commands(live)).toEqual(runs);
    if (code === "CONFIG_INVALID") {
      expect(live.unapplied?.message).toContain(
        `the edit of ${place("home/plugboard.json")} is not`,
      );
    }
  });

  it("notices that your file is made, and what is in it", async () => {
    rmSync(place("home/plugboard.json"));
    write("repo/plugboard.json", THEIRS);
    await trust("repo/plugboard.json");
    const { live, applied } = await follow(undefined);
    expect(live.source).toEqual({
      kind: "file",
      path: place("repo/plugboard.json"),
      from: "directory",
    });
    write("home/plugboard.json", MINE);
    await eventually(() => applied.length === 1);
    expect(applied).toEqual([["mine", "docs", "evil"]]);
    expect(live.source).toMatchObject({ base: place("home/plugboard.json") });
  });

  it.each([
    ["a disabled server of the same name", servers({ mine: { command: "x", enabled: false } })],
    ["a rule", JSON.stringify({ agents: { defaults: { tools: { allow: [] } } } })],
    ["an agent", JSON.stringify({ agents: { list: [{ id: "a" }] } })],
  ])("needs your trust although it starts nothing: %s", async (_, text) => {
    write("repo/plugboard.json", text);
    const { live } = await follow(undefined);
    const agent = await live.readAgent();
    expect(agent.untrusted).toHaveLength(1);
    expect(agent.servers).toHaveLength(2);
    expect(agent.guard).toBeUndefined();
    await live.close();

    // So it does if your file is made while a command runs with the project's.
    rmSync(place("home/plugboard.json"));
    const later = await follow(undefined);
    write("home/plugboard.json", MINE);
    await later.live.reload();
    const laid = await later.live.readAgent();
    expect(laid.untrusted).toHaveLength(1);
    expect(laid.servers).toHaveLength(2);
    expect(laid.guard).toBeUndefined();
  });

  it("does not keep yours from being used by a mistake in it, unless you have trusted it before", async () => {
    write("repo/plugboard.json", "{ agents: 7 }");
    const { live } = await follow(undefined);
    expect(await commands(live)).toEqual(["mine", "my-docs"]);
    expect(live.source).toMatchObject({ path: place("home/plugboard.json") });
    expect(logger.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining(`${place("repo/plugboard.json")} is left out`),
    );
    await live.close();
    await new TrustStore(place("home")).approve(place("repo/plugboard.json"), [], 1);
    await expect(follow(undefined)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("is left out if it loosens what you have set, is an error once it is trusted, and no edit of it", async () => {
    const looser = named(THEIRS, {}, { audit: { file: "/dev/null" } });
    write("repo/plugboard.json", looser);
    const { live } = await follow(undefined);
    expect(await commands(live)).toEqual(["mine", "my-docs"]);
    await live.close();
    await trust("repo/plugboard.json");
    await expect(follow(undefined)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      problems: [{ file: place("repo/plugboard.json"), line: 1, path: "audit.file" }],
    });
    write("repo/plugboard.json", THEIRS);
    await trust("repo/plugboard.json");
    const later = await follow(undefined);
    write("repo/plugboard.json", looser);
    await eventually(() => later.unapplied.length === 1);
    expect(later.unapplied).toEqual(["invalid"]);
    expect(await commands(later.live)).toEqual(["mine", "docs", "evil"]);
  });

  it("needs no trust if it says nothing at all", async () => {
    write("repo/plugboard.json", '{ "mcpServers": {} }');
    const { live } = await follow(undefined);
    expect(await commands(live)).toEqual(["mine", "my-docs"]);
  });

  it("has an agent of its own, which gets nothing of yours before it is trusted", async () => {
    const list = [{ id: "theirs", mcp: { servers: { own: { command: "own" } } } }];
    write("repo/plugboard.json", JSON.stringify({ agents: { list } }));
    const { live, applied } = await follow(undefined);
    expect((await live.readGateway()).agentIds).toEqual(["default", "theirs"]);
    expect(await live.readAgent("theirs")).toMatchObject({ agentId: "theirs", servers: [] });
    await trust("repo/plugboard.json");
    await eventually(() => applied.length === 1);
    const { servers: all } = await live.readAgent("theirs");
    expect(all.map(({ name }) => name)).toEqual(["mine", "docs", "own"]);
  });

  it("is used alone while yours is one that others can write", async () => {
    write("repo/plugboard.json", THEIRS);
    await trust("repo/plugboard.json");
    chmodSync(place("home/plugboard.json"), 0o666);
    const { live } = await follow(undefined);
    const agent = await live.readAgent();
    expect(agent.servers.map(({ name }) => name)).toEqual(["docs", "evil"]);
    expect(agent.untrusted).toMatchObject([
      { file: place("home/plugboard.json"), servers: [{ name: "mine" }] },
    ]);
  });
});

it("without a file there are no servers, and there is nothing to follow", async () => {
  const { live, applied } = await follow(undefined);
  expect(await commands(live)).toEqual([]);
  expect(await live.reload()).toEqual(REPORT);
  expect(applied).toEqual([]);
});

it("names what takes another start, once", () => {
  const told: string[] = [];
  const tell = onceEach((names) => told.push(names));
  for (const names of [[], ["a"], ["a"], ["a", "b"], [], ["a"]]) tell(names);
  expect(told).toEqual(["a", "a, b", "a"]);
});

it("what a killed process was writing is removed at the start of what runs for long", async () => {
  const half = join(root, "home", "pins.json.0123456789ab.tmp");
  const writing = join(root, "home", "pins.json.ba9876543210.tmp");
  for (const path of [half, writing]) writeFileSync(path, "{");
  utimesSync(half, 0, 0);
  open = await LiveConfig.open(contextFor(undefined));
  await eventually(() => !existsSync(half));
  expect(existsSync(writing)).toBe(true);
});
