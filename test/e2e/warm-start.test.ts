// What a command loads: a list that is remembered costs no more than reading it. Needs the build.

import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useScratch } from "../cli/harness.ts";
import { fixture } from "../support/boards.ts";

const run = promisify(execFile);
const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
const BIN = join(DIST, "bin.cjs");
const LIBRARY = pathToFileURL(join(DIST, "index.js")).href;

const scratch = useScratch();

const isProject = (): boolean => existsSync(join(scratch.directory, "plugboard.json"));

interface Loaded {
  stdout: string;
  /** The packages, and the parts of this one. */
  loaded: string[];
  /** The files of this one. */
  files: string[];
}

function loadedBy(...args: string[]): Promise<Loaded> {
  return loadedIn(args.join("-").replaceAll("/", "-"), [BIN, ...args]);
}

function node(words: string[], more: NodeJS.ProcessEnv = {}): Promise<{ stdout: string }> {
  const env = {
    ...process.env,
    ...more,
    PLUGBOARD_HOME: join(scratch.directory, "home"),
    // Without it, the file of the directory lies over the one in the home.
    PLUGBOARD_CONFIG: isProject() ? "" : join(scratch.directory, "servers.json"),
  };
  return run(process.execPath, words, { cwd: scratch.directory, env });
}

/** What a run of Node loaded, by what the engine saw. */
async function loadedIn(title: string, words: string[]): Promise<Loaded> {
  const coverage = join(scratch.directory, `coverage-${title}`);
  const { stdout } = await node(words, { NODE_V8_COVERAGE: coverage });
  const reports = await Promise.all(
    (await readdir(coverage)).map((name) => readFile(join(coverage, name), "utf8")),
  );
  const urls = reports.flatMap((report) =>
    (JSON.parse(report) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
  const names = urls.flatMap((url) => {
    const [, name] =
      /\/(?:node_modules|dist)\/((?:@[^/]+\/)?[^/]+)(?!.*\/node_modules\/)/.exec(url) ?? [];
    return name ?? [];
  });
  const own = pathToFileURL(DIST).href;
  const files = urls.filter((url) => url.startsWith(own)).map((url) => url.slice(own.length));
  return { stdout, loaded: [...new Set(names)], files: [...new Set(files)].toSorted() };
}

it("listing tools that are remembered loads neither a protocol, a validator nor a network", async () => {
  scratch.servers({ echo: fixture("echo") });
  const cold = await loadedBy("tools");
  expect(cold.stdout).toContain("echo");
  const warm = await loadedBy("tools", "--json");
  expect(warm.stdout).toContain("echo/echo");
  expect(warm.files).toContain("shared/tools.js");
  for (const name of ["@modelcontextprotocol/client", "re2js", "undici"]) {
    expect(warm.loaded).not.toContain(name);
  }
  for (const name of ["server", "validator"]) {
    expect(warm.files).not.toContain(`shared/${name}.js`);
  }
});

it("a server that asks for nothing is started and called without the SDK", async () => {
  scratch.servers({ echo: fixture("echo"), watched: fixture("modern-only") });
  const sdk = "@modelcontextprotocol/client";
  expect((await loadedBy("call", "echo/echo", "text=hi")).loaded).not.toContain(sdk);
  expect((await loadedBy("call", "watched/echo", "text=hi")).loaded).toContain(sdk);
});

it("a program that uses the library loads it as a few files, with nothing of the command line", async () => {
  const words = ["--input-type=module", "--eval", `await import(${JSON.stringify(LIBRARY)})`];
  const { files } = await loadedIn("library", words);
  // The last has what wraps a CommonJS package.
  const shared = ["basis", "board", "first", "library", "rolldown-runtime"];
  expect(files).toEqual(["index.js", ...shared.map((name) => `shared/${name}.js`)]);
  // Each module is named where it begins.
  const modules = files.flatMap((file) => [
    ...readFileSync(join(DIST, file), "utf8").matchAll(/^\/\/ (\S+)\.js$/gm),
  ]);
  expect(modules.length).toBeGreaterThan(100);
  expect(modules.map(([, name]) => name).filter((name) => name?.startsWith("cli/"))).toEqual([]);
});

it("a call loads the validator only for a tool that has an outputSchema, as one file", async () => {
  scratch.servers({ echo: fixture("echo") });
  const plain = await loadedBy("call", "echo/echo", "text=hi");
  expect(plain.stdout).toBe("hi\n");
  expect(plain.files).not.toContain("shared/validator.js");
  const checked = await loadedBy("call", "echo/add", "a=1", "b=2");
  expect(checked.files).toEqual([...plain.files, "shared/validator.js"].toSorted());
  expect(checked.loaded.toSorted()).toEqual(plain.loaded.toSorted());
});

it.each([
  ["its version", ["--version"], []],
  ["the candidates for a word", ["__complete", "zsh", "stat"], ["completion"]],
])("%s loads next to nothing", async (_, words, more) => {
  const { stdout, files, loaded } = await loadedBy(...words);
  expect(stdout).not.toBe("");
  const shared = [...more, "first"].map((name) => `shared/${name}.js`);
  expect(files).toEqual(["bin.cjs", "entry.js", ...shared]);
  expect(loaded.toSorted()).toEqual(["bin.cjs", "entry.js", "shared"]);
});

it.each([
  ["one file", async () => scratch.servers({ echo: { ...fixture("echo"), keepAlive: true } })],
  [
    "a project's file over your own",
    async () => {
      mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
      const echo = { ...fixture("echo"), keepAlive: true };
      scratch.file("home/plugboard.json", { mcpServers: { echo } });
      scratch.file("plugboard.json", { mcpServers: { other: { command: "other", lazy: true } } });
      await scratch.run(["trust", "--yes"]);
    },
  ],
])(
  "a call to a running gateway with %s loads one file besides the command's first, and no package",
  async (_, setUp) => {
    await setUp();
    try {
      // Not looked at: the gateway that it starts would still write down what it loaded when the test is over.
      await node([BIN, "call", "echo/echo", "text=first"]);
      const warm = await loadedBy("call", "echo/echo", "text=hi", "--timeout", "5000");
      expect(warm.stdout).toBe("hi\n");
      const files = ["bin.cjs", "warm-call.cjs"];
      expect(warm.files).toEqual(files);
      expect(warm.loaded.toSorted()).toEqual(files);
      expect((await loadedBy("call", "echo", "echo", "hi")).files).toEqual(files);
      const terminal = ["--import", "data:text/javascript,process.stderr.isTTY=true"];
      const shown = await loadedIn("terminal", [...terminal, BIN, "call", "echo/echo", "text=hi"]);
      expect(shown.files).toEqual(files);
      expect(shown.loaded.toSorted()).toEqual(files);
      // What it cannot do itself, it leaves to the others, before it has done anything.
      for (const [words, expected] of [
        [["echo/echo", "--help"], "Arguments:"],
        [["echo/echo", "text=hi", "--standalone"], "hi\n"],
      ] as const) {
        const { stdout, files: loaded } = await loadedBy("call", ...words);
        expect(stdout).toContain(expected);
        expect(loaded).toEqual(expect.arrayContaining(["entry.js", "warm-call.cjs"]));
      }
    } finally {
      await node([BIN, "down"]);
    }
  },
);

it("a warm call keeps what V8 has compiled, and uses it if nobody else can have written it", async () => {
  scratch.servers({ echo: { ...fixture("echo"), keepAlive: true } });
  const folder = join(scratch.directory, "home", "code");
  const file = join(folder, `${process.version}-${process.arch}`);
  const call = (more?: NodeJS.ProcessEnv): Promise<{ stdout: string }> =>
    node([BIN, "call", "echo/echo", "text=hi"], more);
  const kept = (): bigint => statSync(file, { bigint: true }).ino;
  try {
    await call();
    await call({ NODE_DISABLE_COMPILE_CACHE: "1" });
    expect(existsSync(folder)).toBe(false);
    await call();
    expect(readdirSync(folder)).toHaveLength(1);
    const first = kept();
    expect((await call()).stdout).toBe("hi\n");
    expect(kept()).toBe(first);
    // Of another build, cut short, or not a cache at all: compiled anew, and kept.
    const whole = readFileSync(file, "latin1");
    for (const wrong of [
      whole.replaceAll("runWarmCall", "runWormCall"),
      whole.slice(0, whole.length / 2),
      "",
    ]) {
      writeFileSync(file, wrong, "latin1");
      const before = kept();
      expect((await call()).stdout).toBe("hi\n");
      expect(kept()).not.toBe(before);
    }
    if (process.geteuid === undefined) return;
    for (const path of [file, folder]) {
      chmodSync(path, path === file ? 0o660 : 0o770);
      const before = kept();
      await call();
      expect(kept()).not.toBe(before);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
  } finally {
    await node([BIN, "down"]);
  }
});
