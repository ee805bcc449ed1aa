// The package as npm would publish it: what it needs and nothing else, and an agent that the ACP registry admits.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

interface Packed {
  path: string;
  mode: number;
}

/** Everything that may be in it. */
const EXPECTED =
  /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE|agent\.json|plugboard\.schema\.json|icon\.svg|docs\/[\w-]+\.md|deploy\/(?:Containerfile|systemd\/[\w-]+\.service)|openclaw-plugin\/(?:README\.md|package\.json|openclaw\.plugin\.json|dist\/index\.js)|dist\/command\/[\w-]+\.js|dist\/cli\/completion\/grammar\.json|dist\/[\w/.-]+\.(?:js|d\.ts))$/;

describe("the package", () => {
  let files: Packed[] = [];
  let paths: string[] = [];
  beforeAll(async () => {
    // Without scripts: `prepare` would build again, under the other tests.
    const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const shell = process.platform === "win32";
    const options = { cwd: root, shell, maxBuffer: 16 * 2 ** 20 };
    const { stdout } = await promisify(execFile)("npm", args, options);
    const report = JSON.parse(stdout) as
      | { files: Packed[] }[]
      | Record<string, { files: Packed[] }>;
    // A list up to npm 11, then an object by package name.
    files = Object.values(report)[0]?.files ?? [];
    paths = files.map(({ path }) => path);
  });

  it("holds nothing that nobody needs", () => {
    expect(paths.filter((path) => !EXPECTED.test(path))).toEqual([]);
    expect(paths.filter((path) => /\.test\.|\.map$/.test(path))).toEqual([]);
    // A module that is gone from src/ has left nothing behind.
    const modules = paths.filter((path) => path.endsWith(".d.ts"));
    const sourceOf = (path: string): string => path.replace(/^dist(.*)\.d\.ts$/, "src$1.ts");
    expect(modules.filter((path) => !existsSync(join(root, sourceOf(path))))).toEqual([]);
  });

  it("holds what the manifest and its own modules refer to", () => {
    const entries = Object.values<string | Record<string, string>>(manifest.exports)
      .flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)))
      .concat(Object.values<string>(manifest.bin))
      .map((path) => posix.normalize(path));
    const imports = paths
      .filter((path) => path.endsWith(".js"))
      .flatMap((path) => {
        const text = readFileSync(join(root, path), "utf8");
        const found = text.matchAll(
          /^(?:import|export)\b[^;'"]*?\bfrom\s*"(\.[^"]+)"|^import\s*"(\.[^"]+)"/gm,
        );
        return [...found].map(([, from, bare = ""]) =>
          posix.join(posix.dirname(path), from ?? bare),
        );
      });
    expect(imports.length).toBeGreaterThan(100);
    const needed = new Set([
      "README.md",
      "LICENSE",
      "agent.json",
      "icon.svg",
      "openclaw-plugin/README.md",
      "openclaw-plugin/openclaw.plugin.json",
      "openclaw-plugin/dist/index.js",
      ...entries,
      ...imports,
    ]);
    const packed = new Set(paths);
    expect([...needed].filter((path) => !packed.has(path))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("has a program that can be run", () => {
    const programs = Object.values<string>(manifest.bin).map((path) => posix.normalize(path));
    for (const program of programs) {
      const mode = files.find(({ path }) => path === program)?.mode ?? 0;
      expect(mode & 0o111, program).toBe(0o111);
      expect(readFileSync(join(root, program), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    }
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
