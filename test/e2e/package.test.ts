// The package as npm would publish it: what it needs and nothing else, working where nothing else is installed, and an agent
// that the ACP registry admits.

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useAgents } from "./acp-agent.ts";

const run = promisify(execFile);
const desk = useAgents();
const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** What CycloneDX says about the package, as far as it is looked at. */
interface Bom {
  bomFormat: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Component {
  "bom-ref": string;
  name: string;
  version: string;
  properties: { name: string; value: string }[];
}

interface Packed {
  path: string;
  mode: number;
}

/** Everything besides modules and their types. */
const OTHERS =
  /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE|agent\.json|plugboard\.schema\.json|icon\.svg|docs\/[\w-]+\.md|deploy\/(?:Containerfile|(?:haproxy|nginx)\.c(?:fg|onf)|(?:alerts|envoy)\.yaml|grafana\.json|systemd\/[\w-]+\.service)|dist\/openclaw-plugin\/(?:README\.md|package\.json|openclaw\.plugin\.json)|dist\/(?:grammar\.json|THIRD-PARTY\.txt)|dist\/ui\/[\w.-]+)$/;

/** What is started or loaded by its path: the plugin by OpenClaw, the demo by the command. */
const PROGRAMS = ["dist/openclaw-plugin/dist/index.js", "dist/cli/demo/server/server.js"];

const exported = Object.entries<string | Record<string, string>>(manifest.exports);
const conditions = (name: string): string[] =>
  exported.flatMap(([, entry]) => (typeof entry === "string" ? [] : (entry[name] ?? [])));
/** As a program imports them. */
const specifiers = exported
  .filter(([, entry]) => typeof entry !== "string")
  .map(([path]) => posix.join("plugboard", path));

let project: string;
let files: Packed[] = [];
let paths: string[] = [];

/** An empty project with the package and its dependencies, those for development excepted. */
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "plugboard-package-"));
  // Without scripts: `prepare` would build again where the sources have changed, under the other tests.
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", project];
  const shell = process.platform === "win32";
  const { stdout } = await run("npm", args, { cwd: root, shell, maxBuffer: 16 * 2 ** 20 });
  const report = JSON.parse(stdout) as PackReport[] | Record<string, PackReport>;
  // A list up to npm 11, then an object by package name.
  const packed = Object.values(report)[0];
  files = packed?.files ?? [];
  paths = files.map(({ path }) => path);
  const modules = join(project, "node_modules");
  const home = join(modules, "plugboard");
  mkdirSync(home, { recursive: true });
  const tarball = join(project, packed?.filename ?? "");
  await run("tar", ["-xzf", tarball, "-C", home, "--strip-components=1"]);
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
  }
});

interface PackReport {
  filename: string;
  files: Packed[];
}

afterAll(() => rmSync(project, { recursive: true, force: true }));

const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The files that these lead to, themselves included, by the relative paths that `pattern` finds in them. */
function reachable(entries: readonly string[], pattern: RegExp, ending: string): string[] {
  const found = new Set<string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    found.add(path);
    for (const [, imported = "", to = imported] of read(path).matchAll(pattern)) {
      add(posix.join(posix.dirname(path), to).replace(/\.[jt]s$/, ending));
    }
  };
  entries.map((path) => posix.normalize(path)).forEach(add);
  return [...found].toSorted();
}

describe("the package", () => {
  it("has the modules that the command, an export or a program loads, and no other", () => {
    const entries = [...Object.values<string>(manifest.bin), ...conditions("default"), ...PROGRAMS];
    const pattern = /\b(?:from|import)\s*\(?\s*"(\.[^"]+\.js)"|__dirname, "([^"]+)"/g;
    const loaded = reachable(entries, pattern, ".js");
    expect(loaded.length).toBeGreaterThan(50);
    // The page's own is named by its document, and loaded by a browser.
    const modules = paths.filter((path) => /\.c?js$/.test(path) && !path.startsWith("dist/ui/"));
    expect(modules.toSorted()).toEqual(loaded);
  });

  it("has the types that those of an export are made of, and no other", () => {
    const types = reachable(conditions("types"), /\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g, ".d.ts");
    expect(types.length).toBeGreaterThan(conditions("types").length);
    expect(paths.filter((path) => path.endsWith(".ts")).toSorted()).toEqual(types);
  });

  it("is the same on every system: what is compressed does not name the one it was made on", () => {
    const zipped = paths.filter((path) => path.endsWith(".gz"));
    expect(zipped.length).toBeGreaterThan(2);
    const systems = zipped.map((path) => readFileSync(join(root, path))[9]);
    expect(new Set(systems)).toEqual(new Set([255]));
  });

  it("has nothing else that nobody needs", () => {
    const others = paths.filter((path) => !/\.(?:c?js|d\.ts)$/.test(path));
    expect(others.filter((path) => !OTHERS.test(path))).toEqual([]);
    const needed = [
      "README.md",
      "LICENSE",
      "agent.json",
      "icon.svg",
      "dist/openclaw-plugin/README.md",
      "dist/openclaw-plugin/openclaw.plugin.json",
    ];
    expect(others).toEqual(expect.arrayContaining(needed));
  });

  /** The packages whose code is in its files. */
  const bundledPackages = (): (string | undefined)[] =>
    paths
      .filter((path) => /\.c?js$/.test(path))
      .flatMap((path) => [
        ...read(path).matchAll(/^\/\/ \S*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
      ])
      .map(([, name]) => name);

  it("has the licences of the packages that are part of it", () => {
    const bundled = bundledPackages();
    expect(bundled).toContain("ajv");
    const texts = read("dist/THIRD-PARTY.txt");
    for (const name of new Set(bundled)) {
      expect(texts).toMatch(new RegExp(`^${name} \\d[^]*?(?:MIT|BSD|Apache|ISC)`, "m"));
    }
  });

  it("has a bill of materials: what it needs, what is part of it, and nothing of its development", async () => {
    const { stdout } = await run(process.execPath, [join(root, "scripts", "sbom.mjs")]);
    const { bomFormat, metadata, components, dependencies } = JSON.parse(stdout) as Bom;
    expect(bomFormat).toBe("CycloneDX");
    expect(metadata.component).toMatchObject({ name: "plugboard", version: manifest.version });
    const partOf = components
      .filter(({ properties }) => properties.some(({ name }) => name.endsWith(":bundled")))
      .map(({ name }) => name);
    expect(partOf).toEqual(expect.arrayContaining(bundledPackages()));
    const needed = { ...manifest.dependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(needed)) {
      expect(components).toContainEqual(expect.objectContaining({ name, version }));
    }
    const names = components.map(({ name }) => name);
    expect(names).not.toContain("vitest");
    expect(names).not.toContain("rolldown");
    const refs = components.map((each) => each["bom-ref"]);
    expect([...refs, metadata.component["bom-ref"]]).toEqual(
      expect.arrayContaining(dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])),
    );
  });

  it.skipIf(process.platform === "win32")("has a program that can be run", () => {
    const programs = Object.values<string>(manifest.bin).map((path) => posix.normalize(path));
    for (const program of programs) {
      const mode = files.find(({ path }) => path === program)?.mode ?? 0;
      expect(mode & 0o111, program).toBe(0o111);
      expect(read(program)).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
  });
});

describe("the package in an empty project", () => {
  const plugboard = (...words: string[]): Promise<{ stdout: string }> => {
    const bin = join(project, "node_modules", "plugboard", manifest.bin.plugboard);
    const env = { ...process.env, PLUGBOARD_HOME: join(project, "home"), PLUGBOARD_CONFIG: "" };
    return run(process.execPath, [bin, ...words], { cwd: project, env });
  };

  it("gives every export, and OpenClaw its plugin", async () => {
    const file = join(project, "all.mjs");
    const all = [...specifiers, "./node_modules/plugboard/dist/openclaw-plugin/dist/index.js"];
    const lines = all.map(
      (each) => `console.log(Object.keys(await import("${each}")).length > 0);`,
    );
    writeFileSync(file, lines.join("\n"));
    const { stdout } = await run(process.execPath, [file], { cwd: project });
    expect(stdout).toBe("true\n".repeat(all.length));
  });

  it("has types for every export, which a strict compiler takes whole", async () => {
    const lines = specifiers.map((each, at) => `import * as m${at} from "${each}"; void m${at};`);
    writeFileSync(join(project, "all.mts"), lines.join("\n"));
    const options =
      "--ignoreConfig --noEmit --checkers 1 --strict --module nodenext --target es2022 --types node";
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const words = [compiler, ...options.split(" "), "--skipLibCheck", "false", "all.mts"];
    const { stdout } = await run(process.execPath, words, { cwd: project });
    expect(stdout).toBe("");
  });

  it("lists and calls the tools of the demo, with their output checked", async () => {
    expect((await plugboard("--version")).stdout).toBe(`${manifest.version}\n`);
    expect((await plugboard("tools")).stdout).toContain("demo/countdown");
    const { stdout } = await plugboard("call", "demo/countdown", "from=1", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { steps: 1 } });
  });
});

describe("the agent that agent.json starts", () => {
  it("offers an authentication, as its version, and needs none for a session", async () => {
    const entry = JSON.parse(readFileSync(join(root, "agent.json"), "utf8"));
    expect(entry.distribution.npx.args).toEqual(["acp"]);
    const agent = await desk.start();
    // From the wire: the SDK's client drops keys that it does not know.
    const [line = ""] = agent.stdout.split("\n");
    const { authMethods, agentInfo } = JSON.parse(line).result;
    const text = expect.stringMatching(/./);
    expect(authMethods).toMatchObject([
      { type: "agent", id: text, name: text },
      { type: "agent", id: text, name: text },
    ]);
    expect(agentInfo.version).toBe(entry.version);
    expect(await agent.newSession(desk.directory)).toMatch(/./);
    expect(await agent.leave()).toBe(0);
  });
});
