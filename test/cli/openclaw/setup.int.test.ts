import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ownBin } from "../../../src/core/config/own-server.ts";
import { parseText } from "../../../src/core/config/text/document.ts";
import { valueIn } from "../../../src/core/types/json.ts";
import { recordGateway } from "../../../src/core/state/running-gateway.ts";
import { startGateway } from "../../fixtures/openclaw/gateway.ts";
import { asked, useScratch } from "../harness.ts";

const scratch = useScratch();
const FIXTURES = fileURLToPath(new URL("../../fixtures/openclaw/config/", import.meta.url));
const FILE = ".openclaw/openclaw.json";
/** Ports that no other suite has. */
const BASE = 23_640;

const left: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(left.splice(0).map((end) => end()));
});

const at = (path: string): string => join(scratch.directory, path);

function put(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(at(path)), { recursive: true, mode: 0o700 });
  writeFileSync(at(path), content);
  chmodSync(at(path), mode);
}

/** A program `openclaw` that answers `--version`. */
function install(said = "OpenClaw 2026.9.6 (eb377ac)", code = 0): void {
  put("bin/openclaw", `#!/bin/sh\necho '${said}'\nexit ${code}\n`, 0o700);
}

beforeEach(() => install());

const config = (): unknown => {
  const document = parseText(scratch.read(FILE));
  return document.kind === "document" ? document.value : undefined;
};
const servers = (): Record<string, { url?: string; headers?: { Authorization: string } }> =>
  valueIn(config(), ["mcp", "servers"]) as ReturnType<typeof servers>;
const slotNames = (): string[] => Object.keys(servers()).filter((name) => /-\d$/.test(name));
const tokens = (): (string | undefined)[] =>
  slotNames().map((name) => servers()[name]?.headers?.Authorization.replace("Bearer ", ""));

const env = (more: Record<string, string> = {}): { env: Record<string, string> } => ({
  env: { PATH: at("bin"), ...more },
});
const setup = (...options: string[]) =>
  scratch.run(["openclaw", "setup", "--yes", ...options], env());
const setupSlots = (count = 2, ...options: string[]) =>
  setup("--slots", String(count), "--base-port", String(BASE), ...options);

/** Listens on a port, as a session with that slot does. */
async function listen(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  left.push(async () => {
    server.close();
    await once(server, "close");
  });
}

describe.each(["comments.json5", "windows.json", "one-line.json"])("%s", (fixture) => {
  const original = readFileSync(join(FIXTURES, fixture), "utf8");

  it("gets slots, keeps everything else, and loses them byte for byte", async () => {
    put(FILE, original, 0o600);
    const { code, stdout, stderr } = await setupSlots(2, "--json");
    expect(code, stderr).toBe(0);
    const url = (slot: number): string => `http://127.0.0.1:${BASE + slot}/mcp/plugboard-${slot}`;
    expect(JSON.parse(stdout)).toMatchObject({
      application: "openclaw",
      file: at(FILE),
      changed: true,
      slots: [
        { name: "plugboard-1", url: url(1) },
        { name: "plugboard-2", url: url(2) },
      ],
      agent: { args: [ownBin(), "acp", "--openclaw"], env: { PLUGBOARD_HOME: at("home") } },
    });
    expect(servers()["plugboard-2"]).toMatchObject({ url: url(2), enabled: false });
    expect(new Set(tokens()).size).toBe(2);
    expect(JSON.parse(scratch.read("home/openclaw/slots.json"))).toEqual({
      version: 1,
      basePort: BASE,
      slots: [1, 2].map((slot) => ({
        name: `plugboard-${slot}`,
        port: BASE + slot,
        token: tokens()[slot - 1],
      })),
    });
    expect(
      [FILE, "home/openclaw/slots.json"].map((path) => statSync(at(path)).mode & 0o777),
    ).toEqual([0o600, 0o600]);
    const text = scratch.read(FILE);
    expect(JSON.parse((await setup("--json")).stdout)).toMatchObject({ changed: false });
    expect(scratch.read(FILE)).toBe(text);
    const undone = await setup("--undo", "--json");
    expect(JSON.parse(undone.stdout)).toMatchObject({ changed: true, exact: true });
    expect(scratch.read(FILE)).toBe(original);
    expect(existsSync(at("home/openclaw/slots.json"))).toBe(false);
  });

  it("has slots and the shared entry for one agent side by side, whichever came first", async () => {
    const shared = ["--shared", "--for", "research"];
    put(FILE, original);
    await setupSlots();
    const withSlots = scratch.read(FILE);
    await setup(...shared);
    expect(Object.keys(servers())).toEqual(
      expect.arrayContaining(["plugboard-1", "plugboard-2", "plugboard"]),
    );
    expect(valueIn(config(), ["agents", "entries", "home", "tools", "deny"])).toContain(
      "plugboard__*",
    );
    expect(valueIn(config(), ["agents", "entries", "research", "tools"])).toBeUndefined();
    const both = scratch.read(FILE);
    for (const argv of [
      ["openclaw", "setup"],
      ["openclaw", "setup", ...shared],
      ["connect", "openclaw"],
    ]) {
      await scratch.run([...argv, "--yes"], env());
      expect(scratch.read(FILE)).toBe(both);
    }
    await scratch.run(["connect", "openclaw", "--undo", "--yes"], env());
    expect(scratch.read(FILE)).toBe(withSlots);
    await setup("--undo");
    expect(scratch.read(FILE)).toBe(original);
    await setup(...shared);
    await setupSlots();
    await setup("--undo");
    expect(scratch.read(FILE)).toBe(original);
    expect(readdirSync(at("home/connect"))).toEqual([]);
  });

  it("loses only what is ours if it has changed meanwhile", async () => {
    put(FILE, original);
    await setupSlots();
    await setup("--shared", "--for", "research");
    put(FILE, `// later\n${scratch.read(FILE)}`);
    expect(JSON.parse((await setup("--json")).stdout)).toMatchObject({ changed: false });
    const { stdout } = await setup("--undo");
    expect(stdout).toContain("only Plugboard's own entries are gone");
    const text = scratch.read(FILE);
    expect(text).toMatch(/^\/\/ later\n/);
    expect(text).not.toContain("plugboard");
    if (fixture === "comments.json5")
      expect(text).toBe(
        `// later\n${original.replace("guest: {}", "guest: {\n        tools: {\n          deny: [],\n        },\n      }")}`,
      );
  });
});

describe("slots", () => {
  it("are made where there is no file, which is then the owner's alone", async () => {
    const { stderr } = await setupSlots();
    expect(stderr).toMatch(/^warning: there is no .*openclaw\.json yet.*\n.*openclaw onboard$/m);
    expect(statSync(at(FILE)).mode & 0o777).toBe(0o600);
    await setup("--undo");
    expect(existsSync(at(".openclaw"))).toBe(false);
  });

  it("become more and fewer, and keep their tokens", async () => {
    put(FILE, "{}");
    await setupSlots(2);
    const [first, second] = tokens();
    await setup("--slots", "3");
    expect(tokens()).toEqual([first, second, expect.any(String)]);
    await setup("--slots", "1");
    expect(tokens()).toEqual([first]);
    await setup("--base-port", String(BASE + 20));
    expect(servers()["plugboard-1"]?.url).toBe(`http://127.0.0.1:${BASE + 21}/mcp/plugboard-1`);
    expect(tokens()).toEqual([first]);
    await setup("--undo");
    expect(scratch.read(FILE)).toBe("{}");
  });

  it("get tokens of ours in place of those that others could guess", async () => {
    const own = "A".repeat(43);
    const written = ["x", "…", "${TOKEN}", own].map((token, index) => [
      `plugboard-${index + 1}`,
      {
        url: `http://127.0.0.1:${BASE + index + 1}/mcp/plugboard-${index + 1}`,
        headers: { Authorization: `Bearer ${token}` },
      },
    ]);
    put(FILE, JSON.stringify({ mcp: { servers: Object.fromEntries(written) as object } }));
    expect((await setupSlots(4)).code).toBe(0);
    const made = expect.stringMatching(/^[\w-]{43}$/) as string;
    expect(tokens()).toEqual([made, made, made, own]);
    expect(new Set(tokens()).size).toBe(4);
  });

  it("that Plugboard's own list has lost are taken from OpenClaw's file", async () => {
    put(FILE, "{}");
    await setupSlots(2);
    const list = scratch.read("home/openclaw/slots.json");
    for (const damage of [undefined, "{"]) {
      put("home/openclaw/slots.json", damage ?? "");
      expect((await setup()).code).toBe(0);
      expect(scratch.read("home/openclaw/slots.json")).toBe(list);
    }
  });

  it("stay while a session uses them, and get free ports", async () => {
    put(FILE, "{}");
    await setupSlots(2);
    await listen(BASE + 2);
    const before = scratch.read(FILE);
    expect((await setup()).code).toBe(0);
    for (const options of [
      ["--slots", "1"],
      ["--base-port", String(BASE + 20)],
    ]) {
      const { code, stderr } = await setup(...options);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`the slot plugboard-2, at port ${BASE + 2}, is in use`),
      });
    }
    expect(scratch.read(FILE)).toBe(before);
    const { stderr } = await setup("--undo");
    expect(stderr).toContain("plugboard-2 is in use: its session loses its servers");
  });

  it.each([
    [String(BASE), `port ${BASE + 3}, which a slot would have, is taken`],
    ["65000", undefined],
  ])("need free ports behind %s", async (base, problem) => {
    put(FILE, "{}");
    await listen(BASE + 3);
    const { code, stderr } = await setup("--slots", "3", "--base-port", base);
    expect(code).toBe(problem === undefined ? 0 : 2);
    if (problem !== undefined) expect(stderr).toContain(problem);
  });

  it("are shown before they are written, without their tokens, and nothing is written without a yes", async () => {
    put(FILE, '{ mcp: { servers: { a: { env: { KEY: "abc" } } } } }');
    const argv = ["openclaw", "setup", "--slots", "1", "--base-port", String(BASE)];
    const { code, stderr } = await scratch.run(argv, env());
    expect(code).toBe(4);
    expect(stderr).toMatch(/^\+.*"plugboard-1": \{.*Bearer …/m);
    expect(stderr).not.toContain("abc");
    const { code: no } = await asked(scratch, argv, env().env, ["Write it? [y/N]", "n\n"]);
    expect(no).toBe(4);
    expect(scratch.read(FILE)).not.toContain("plugboard");
    const { code: yes } = await asked(scratch, argv, env().env, ["Write it? [y/N]", "y\n"]);
    expect(yes).toBe(0);
    const undo = await scratch.run(["openclaw", "setup", "--undo"], env());
    expect(undo.stderr).not.toContain(tokens()[0]);
  });

  it("are shown as one change, with brackets that fit", async () => {
    put(FILE, "{\n  gateway: {},\n}\n");
    const shown = ({ stderr }: { stderr: string }, sign: string): string =>
      stderr
        .split("\n")
        .filter((line) => line.startsWith(sign))
        .map((line) => line.slice(2))
        .join("\n");
    const argv = ["openclaw", "setup", "--slots", "3", "--base-port", String(BASE)];
    const preview = await scratch.run(argv, env());
    const added = shown(preview, "+ ");
    // What was found is not scrolled away by the slots.
    expect(preview.stderr).toMatch(/plugboard-3[^]*^ok: OpenClaw 2026\.9\.6$[^]*cannot ask/m);
    await setupSlots(3);
    expect(parseText(`{${added}}`)).toMatchObject({ kind: "document" });
    expect(Object.keys(servers())).toHaveLength(3);
    const names = (text: string): string[] => text.match(/plugboard-\d(?=":)/g) ?? [];
    expect(names(added)).toEqual(["plugboard-1", "plugboard-2", "plugboard-3"]);
    const undo = await scratch.run(["openclaw", "setup", "--undo"], env());
    expect(shown(undo, "- ")).toBe(added);
  });

  it("come with the entry for an editor, which finds the same OpenClaw", async () => {
    put("claw.json5", "{}");
    const { stdout } = await scratch.run(
      ["openclaw", "setup", "--slots", "1", "--base-port", String(BASE), "--yes"],
      env({ OPENCLAW_CONFIG_PATH: at("claw.json5") }),
    );
    expect(stdout).toContain(`OpenClaw has 1 slot at port ${BASE + 1}: `);
    expect(stdout).toContain('"agent_servers"');
    expect(stdout).toContain(`"OPENCLAW_CONFIG_PATH": "${at("claw.json5")}"`);
    expect(stdout).toContain("\n  plugboard openclaw setup --undo\n");
    const named = await setupSlots(1, "--file", "work.json5");
    expect(named.stdout).toContain(`"OPENCLAW_CONFIG_PATH": "${at("work.json5")}"`);
    const undo = `openclaw setup --file ${at("work.json5")} --undo`;
    expect(named.stdout).toContain(`\n  plugboard ${undo}\n`);
    await scratch.run([...undo.split(" "), "--yes"], env());
    const shared = await setup("--shared", "--file", "work.json5");
    expect(shared.stdout).toContain(
      `\n  plugboard connect openclaw --file ${at("work.json5")} --undo\n`,
    );
  });
});

describe("the shared entry", () => {
  it("is the one that plugboard connect writes", async () => {
    put(FILE, "{}");
    await scratch.run(["connect", "openclaw", "--yes"], env());
    const connected = scratch.read(FILE);
    const { stdout } = await setup("--shared", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ changed: false, findings: [{ state: "ok" }] });
    expect(scratch.read(FILE)).toBe(connected);
    await setup("--shared", "--undo");
    expect(scratch.read(FILE)).toBe("{}");
  });

  it.each<[what: string, openclaw: string, plugboard: object, isTold: boolean]>([
    ["where OpenClaw gives results to its model unmarked", "{ toolSearch: false }", {}, true],
    ["where its tool search is off in another way", "{ toolSearch: { enabled: false } }", {}, true],
    ["unless Plugboard marks them", "{ toolSearch: false }", { framing: "full" }, false],
    ["unless OpenClaw does", "{}", {}, false],
  ])("comes with a word about framing %s", async (_, tools, defaults, isTold) => {
    put(FILE, `{ tools: ${tools} }`);
    put("home/plugboard.json", JSON.stringify({ mcpServers: {}, agents: { defaults } }));
    const { stderr } = await setup("--shared");
    expect(stderr.includes('"framing": "full"')).toBe(isTold);
  });

  it("is for other agents than before, if you say so", async () => {
    const original = readFileSync(join(FIXTURES, "comments.json5"), "utf8");
    put(FILE, original);
    await setup("--shared", "--for", "research");
    put(FILE, `${scratch.read(FILE)}\n// changed`);
    await setup("--shared", "--for", "home", "--for", "guest");
    const deny = (agent: string): unknown =>
      valueIn(config(), ["agents", "entries", agent, "tools", "deny"]);
    expect(["research", "home", "guest"].map(deny)).toEqual([["plugboard__*"], ["canvas"], []]);
  });

  const note = async (url?: string): Promise<void> => {
    const gateway = { pid: process.pid, since: 0, version: "1.0.0", ...(url && { url }) };
    left.push(await recordGateway(at("home"), gateway));
  };
  const entry = (url: string, headers?: object): object => ({
    url,
    transport: "streamable-http",
    ...(headers && { headers }),
    connectionTimeoutMs: 60_000,
    requestTimeoutMs: 600_000,
  });
  const reference = { Authorization: "Bearer ${PLUGBOARD_TOKEN}" };
  const bearer = { Authorization: expect.stringMatching(/^Bearer plug_/) as string };

  it.each<[what: string, argv: string[], url: string, headers?: object]>([
    ["the gateway that runs, with its token", ["--url"], "http://127.0.0.1:7584/mcp", bearer],
    [
      "one of its agents",
      ["--url", "--agent", "a b"],
      "http://127.0.0.1:7584/agents/a%20b/mcp",
      bearer,
    ],
    [
      "a gateway with a token from the environment",
      ["--url", "https://gw.example/mcp", "--token-env", "PLUGBOARD_TOKEN"],
      "https://gw.example/mcp",
      reference,
    ],
    ["a gateway without a token", ["--url", "https://gw.example/mcp"], "https://gw.example/mcp"],
  ])("is %s", async (_, argv, url, headers) => {
    await note("http://127.0.0.1:7584");
    put(FILE, "{}");
    const { code, stdout, stderr } = await setup("--shared", ...argv, "--json");
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ changed: true, url });
    expect(servers()["plugboard"]).toEqual(entry(url, headers));
    expect(`${stdout}${stderr}`).not.toMatch(/plug_/);
    expect(JSON.parse((await setup("--shared", ...argv, "--json")).stdout)).toMatchObject({
      changed: false,
    });
    await setup("--undo");
    expect(scratch.read(FILE)).toBe("{}");
  });

  it("is refused with --url if no gateway runs, or the one that runs has no address", async () => {
    put(FILE, "{}");
    for (const hasNote of [false, true]) {
      if (hasNote) await note();
      const { code, stderr } = await setup("--shared", "--url");
      expect(code).toBe(3);
      expect(stderr).toContain("no gateway runs for this configuration");
      expect(stderr).toContain("plugboard up");
    }
    expect(scratch.read(FILE)).toBe("{}");
  });
});

describe("plugboard openclaw setup finds", () => {
  it.each<
    [what: string, said: string, code: number, options: string[], exit: number, message: RegExp]
  >([
    ["a version that works", "OpenClaw 2026.9.6 (eb377ac)", 0, [], 0, /^ok: OpenClaw 2026\.9\.6$/m],
    [
      "a newer one",
      "2026.10.1",
      0,
      [],
      0,
      /^ok: OpenClaw 2026\.10\.1; Plugboard was tested with 2026\.9\.6$/m,
    ],
    [
      "an untested one",
      "2026.8.2",
      0,
      [],
      0,
      /^warning: OpenClaw 2026\.8\.2 is older than 2026\.9\.6.*slots[^]*openclaw update/m,
    ],
    [
      "one without servers for a session",
      "2026.7.35",
      0,
      [],
      3,
      /2026\.7\.35 cannot give a session servers of its own[^]*setup --shared/,
    ],
    [
      "one that can only share",
      "2026.7.35",
      0,
      ["--shared"],
      0,
      /^warning: OpenClaw 2026\.7\.35 is older/m,
    ],
    [
      "one that does not run",
      "needs Node 24",
      1,
      [],
      0,
      /^warning: openclaw --version failed: needs Node 24$/m,
    ],
    [
      "one that says nothing",
      "",
      0,
      [],
      0,
      /^warning: openclaw --version failed: it names no version$/m,
    ],
  ])("%s", async (_, said, code, options, exit, message) => {
    install(said, code);
    put(FILE, "{}");
    const slots = options.length === 0 ? ["--slots", "1", "--base-port", String(BASE)] : options;
    const { code: exitCode, stderr } = await setup(...slots);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: exit,
      stderr: expect.stringMatching(message),
    });
    expect(scratch.read(FILE) === "{}").toBe(exit !== 0);
  });

  it.each<[what: string, text: string | undefined, exit: number, message: RegExp]>([
    [
      "neither program nor file",
      undefined,
      3,
      /^plugboard: OpenClaw is not here[^]*npm install -g openclaw[^]*--file/,
    ],
    ["a file and no program", "{}", 0, /^warning: the command openclaw is not on your PATH$/m],
    [
      "the version in the file",
      '{ meta: { lastTouchedVersion: "2026.7.1" } }',
      3,
      /2026\.7\.1 cannot give/,
    ],
  ])("%s", async (_, text, exit, message) => {
    if (text !== undefined) put(FILE, text);
    const argv = ["openclaw", "setup", "--slots", "1", "--base-port", String(BASE), "--yes"];
    const { code, stderr } = await scratch.run(argv, { env: { PATH: at("nowhere") } });
    expect({ code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(message) });
  });

  it.each<[what: string, text: string, mode: number, message: RegExp]>([
    [
      "a file that others may read",
      "{}",
      0o644,
      /^warning: others on this machine may read .*\n {2}chmod 600/m,
    ],
    [
      "no tool of MCP servers",
      '{ tools: { deny: ["bundle-mcp"] } }',
      0o600,
      /^warning: tools\.deny has "bundle-mcp"/m,
    ],
    [
      "a gateway that notices no change",
      '{ gateway: { reload: { mode: "off" } } }',
      0o600,
      /^warning: gateway\.reload\.mode is "off".*\n {2}restart it/m,
    ],
    [
      "a profile without them",
      '{ tools: { profile: "minimal" } }',
      0o600,
      /^warning: tools\.profile is "minimal"/m,
    ],
  ])("%s", async (_, text, mode, message) => {
    put(FILE, text, mode);
    const { stderr } = await setup("--shared");
    expect(stderr).toMatch(message);
    expect(statSync(at(FILE)).mode & 0o777).toBe(mode);
  });

  it.each<[what: string, gateway: object | undefined, more: object, exit: number, message: RegExp]>(
    [
      [
        "a gateway that gives the rights",
        {},
        {},
        0,
        /^ok: its gateway at ws:\/\/127\.0\.0\.1:\d+ lets Plugboard switch/m,
      ],
      [
        "no gateway",
        undefined,
        {},
        0,
        /^warning: no gateway of OpenClaw is at .*\n.*openclaw gateway run$/m,
      ],
      [
        "an address where no gateway can be",
        undefined,
        { port: 1 },
        0,
        /^warning: the gateway of OpenClaw at ws:\/\/127\.0\.0\.1:1 .*\n {2}check gateway\.port in its configuration$/m,
      ],
      [
        "another token",
        {},
        { auth: { token: "other" } },
        0,
        /^warning: .* does not accept our token[^]*OPENCLAW_GATEWAY_TOKEN/m,
      ],
      [
        "too few rights",
        { scopes: ["operator.read"] },
        {},
        0,
        /^warning: .*operator\.read, not operator\.admin/m,
      ],
      [
        "another machine",
        undefined,
        { mode: "remote", remote: { url: "wss://claw.example" } },
        3,
        /on another machine, wss:\/\/claw\.example[^]*on the machine of the gateway/,
      ],
    ],
  )("%s", async (_, options, more, exit, message) => {
    const gateway = options === undefined ? undefined : await startGateway(options);
    if (gateway !== undefined) left.push(() => gateway.stop());
    const port = gateway?.port ?? BASE + 9;
    put(FILE, JSON.stringify({ gateway: { port, auth: { token: "secret" }, ...more } }));
    const { code, stderr } = await setupSlots(1);
    expect({ code, stderr }).toMatchObject({ code: exit, stderr: expect.stringMatching(message) });
  });
});

describe("plugboard openclaw setup refuses", () => {
  it.each<[what: string, text: string, options: string[], message: RegExp]>([
    ["a file that is not JSON5", "{ mcp: ", [], /openclaw\.json:1:\d+ {2}the file ends here/],
    [
      "servers that are no object",
      "{ mcp: { servers: [] } }",
      [],
      /mcp\.servers {2}is not an object/,
    ],
    [
      "servers in another file",
      '{ mcp: { $include: "./mcp.json5" } }',
      [],
      /mcp comes from .*\.openclaw\/mcp\.json5 by \$include/,
    ],
    [
      "agents in another file",
      '{ agents: { $include: "./a.json5" } }',
      ["--shared", "--for", "a"],
      /agents comes from/,
    ],
    [
      "a server that is called like a slot",
      '{ mcp: { servers: { "plugboard-1": { command: "x" } } } }',
      [],
      /something else under mcp\.servers\.plugboard-1/,
    ],
    [
      "a server that is called like the board",
      '{ mcp: { servers: { plugboard: { command: "x" } } } }',
      ["--shared", "--url", "http://a.example/mcp"],
      /something else under mcp\.servers\.plugboard/,
    ],
    [
      "an agent that is not there",
      "{ agents: { entries: { research: {}, home: {} } } }",
      ["--shared", "--for", "reserch"],
      /no agent 'reserch'[^]*did you mean 'research'/,
    ],
    [
      "an agent where there are none",
      "{}",
      ["--shared", "--for", "a"],
      /names no agents under agents\.entries/,
    ],
    [
      "an invalid address",
      "{}",
      ["--shared", "--url", "ftp://x/mcp"],
      /is not the address of a gateway/,
    ],
    [
      "an address without the path",
      "{}",
      ["--shared", "--url", "http://x/"],
      /expected one such as http/,
    ],
    ["to take out what is not there", "{}", ["--undo"], /nothing of Plugboard is in/],
    ["options of the other route", "{}", ["--shared", "--slots", "2"], /--slots is about slots/],
    ["a URL without --shared", "{}", ["--url"], /--url needs --shared/],
    ["an agent without --shared", "{}", ["--for", "a"], /--for needs --shared/],
    ["a token without a URL", "{}", ["--shared", "--token-env", "A"], /--token-env needs --url/],
    [
      "a token in place of its variable",
      "{}",
      ["--shared", "--url", "--token-env", "plug_abc"],
      /expected the name of a variable/,
    ],
    [
      "options for what goes away",
      "{}",
      ["--undo", "--slots", "2"],
      /--slots cannot be given with --undo/,
    ],
    ["no slots", "{}", ["--slots", "0"], /expected a number from 1 to 64/],
  ])("%s", async (_, text, options, message) => {
    put(FILE, text);
    const isPlain = options.length === 0;
    const { code, stderr } = isPlain ? await setupSlots(1) : await setup(...options);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
    expect(scratch.read(FILE)).toBe(text);
    expect(existsSync(at("home/openclaw/slots.json"))).toBe(false);
  });

  it("to be run without a word, or with one that it does not know", async () => {
    expect((await scratch.run(["openclaw"], env())).code).toBe(2);
    const { code, stderr } = await scratch.run(["openclaw", "setpu"], env());
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("did you mean 'setup'?"),
    });
  });
});
