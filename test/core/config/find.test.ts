import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesOf, findConfig, withBase } from "../../../src/core/config/find.ts";
import { plugboardHome } from "../../../src/core/config/home.ts";
import { failure } from "./files.ts";
import { temporaryDirectory } from "../../support/directory.ts";

/** A home and a working directory with these files in them. */
async function place(...files: string[]) {
  const root = temporaryDirectory();
  const homedir = join(root, "home");
  const cwd = join(root, "work");
  await mkdir(join(homedir, ".plugboard"), { recursive: true });
  await mkdir(cwd);
  for (const file of files) await writeFile(join(root, file), "{}");
  return { homedir, cwd, root };
}

const HOME_FILE = "home/.plugboard/plugboard.json";
const LOCAL_FILE = "work/plugboard.json";

describe("the configuration", () => {
  it("is the one named by --config", async () => {
    const { root, ...dirs } = await place("a.json", "work/b.json", HOME_FILE, LOCAL_FILE);
    const env = { PLUGBOARD_CONFIG: "b.json" };
    expect(findConfig({ flag: "../a.json", env, ...dirs })).toEqual({
      kind: "file",
      path: join(root, "a.json"),
      from: "flag",
    });
  });

  it("else the one named by $PLUGBOARD_CONFIG", async () => {
    const { root, ...dirs } = await place("work/b.json", HOME_FILE, LOCAL_FILE);
    expect(findConfig({ env: { PLUGBOARD_CONFIG: "b.json" }, ...dirs })).toEqual({
      kind: "file",
      path: join(root, "work/b.json"),
      from: "environment",
    });
  });

  it("else the one in the working directory, which nobody named, over the one in the home", async () => {
    const { root, ...dirs } = await place(LOCAL_FILE, HOME_FILE);
    const source = findConfig({ env: {}, ...dirs });
    const local = { kind: "file", path: join(root, LOCAL_FILE), from: "directory" } as const;
    const home = { kind: "file", path: join(root, HOME_FILE), from: "home" } as const;
    expect(source).toEqual({ ...local, base: home.path });
    expect(source.kind === "file" && filesOf(source)).toEqual([home, local]);
    expect(filesOf(local)).toEqual([local]);
  });

  it("lies over no other file if it was named, or if the home has none", async () => {
    const { root, ...dirs } = await place(LOCAL_FILE, HOME_FILE);
    const path = join(root, LOCAL_FILE);
    expect(findConfig({ flag: path, env: {}, ...dirs })).toEqual({
      kind: "file",
      path,
      from: "flag",
    });
    expect(findConfig({ env: { PLUGBOARD_CONFIG: path }, ...dirs })).toEqual({
      kind: "file",
      path,
      from: "environment",
    });
    const env = { PLUGBOARD_HOME: join(root, "none") };
    const local = { kind: "file", path, from: "directory" } as const;
    expect(findConfig({ env, ...dirs })).toEqual(local);
    expect(withBase({ ...local, base: "gone" }, { env, homedir: dirs.homedir })).toEqual(local);
  });

  it("else the one in the home directory", async () => {
    const { root, ...dirs } = await place(HOME_FILE);
    expect(findConfig({ env: { PLUGBOARD_CONFIG: "" }, ...dirs })).toEqual({
      kind: "file",
      path: join(root, HOME_FILE),
      from: "home",
    });
  });

  it("else the one in $PLUGBOARD_HOME", async () => {
    const { root, ...dirs } = await place("plugboard.json", HOME_FILE);
    expect(findConfig({ env: { PLUGBOARD_HOME: root }, ...dirs })).toEqual({
      kind: "file",
      path: join(root, "plugboard.json"),
      from: "home",
    });
  });

  it("else the demo", async () => {
    const { root: _, ...dirs } = await place();
    expect(findConfig({ env: {}, ...dirs })).toEqual({ kind: "demo" });
  });

  it("is the one in the working directory when it is named", async () => {
    const { root, ...dirs } = await place(LOCAL_FILE);
    expect(findConfig({ flag: "plugboard.json", env: {}, ...dirs })).toEqual({
      kind: "file",
      path: join(root, LOCAL_FILE),
      from: "flag",
    });
  });

  it("is found in the home directory when that is the working directory too", async () => {
    const { root, homedir } = await place(HOME_FILE);
    const cwd = join(homedir, ".plugboard");
    expect(findConfig({ env: {}, cwd, homedir })).toEqual({
      kind: "file",
      path: join(root, HOME_FILE),
      from: "home",
    });
  });

  it("is not ignored because it cannot be looked at", async () => {
    const { root, ...dirs } = await place();
    const file = join(root, HOME_FILE);
    await symlink(file, file);
    expect(findConfig({ env: {}, ...dirs })).toEqual({ kind: "file", path: file, from: "home" });
  });

  it.each(["/dev/null", "."])(
    "is no file in the working directory that leads to %s",
    async (to) => {
      const { root, ...dirs } = await place(HOME_FILE);
      await symlink(to, join(root, LOCAL_FILE));
      expect(findConfig({ env: {}, ...dirs })).toMatchObject({ from: "home" });
    },
  );

  it.each([
    ["--config", { flag: "no.json", env: {} }],
    ["$PLUGBOARD_CONFIG", { env: { PLUGBOARD_CONFIG: "no.json" } }],
  ])("must exist when it is named by %s", async (by, options) => {
    const { root, ...dirs } = await place(HOME_FILE);
    const file = join(root, "work/no.json");
    const error = await failure(() => findConfig({ ...options, ...dirs }));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.problems).toEqual([
      { file, path: "", message: `there is no such file; it was named by ${by}` },
    ]);
  });
});

describe("Plugboard's home", () => {
  it.each([
    [{}, "/home/me/.plugboard"],
    [{ PLUGBOARD_HOME: "" }, "/home/me/.plugboard"],
    [{ PLUGBOARD_HOME: "/srv/board" }, "/srv/board"],
    [{ PLUGBOARD_HOME: "~/board" }, "/home/me/board"],
    [{ PLUGBOARD_HOME: "board" }, join(process.cwd(), "board")],
  ])("with %j is %s", (env, expected) => {
    expect(plugboardHome(env, "/home/me")).toBe(expected);
  });
});
