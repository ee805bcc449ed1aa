// Which files belong to a session, links included.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Workspace } from "../../../../src/agent/acp/editor/workspace.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let base = "";
let workspace: Workspace;

beforeEach(() => {
  base = temporaryDirectory();
  for (const name of ["project/src", "project-two", "more", "outside"]) {
    mkdirSync(join(base, name), { recursive: true });
  }
  writeFileSync(join(base, "outside/secret"), "x");
  const link = (target: string, name: string): void => symlinkSync(target, join(base, name));
  link(join(base, "outside"), "project/away");
  link("../outside/new", "project/dangling");
  link("src", "project/within");
  link("loop", "project/loop");
  link(join(base, "project"), "linked-project");
  workspace = new Workspace(join(base, "project"), [join(base, "project"), join(base, "more")]);
});

describe("inside", () => {
  it.each([
    ["a relative path", "src/a.ts", "project/src/a.ts"],
    ["one of a directory to be made", "new/dir/a.ts", "project/new/dir/a.ts"],
    ["the directory itself", ".", "project"],
    ["a name that begins with dots", "..a", "project/..a"],
    ["another directory of the session", "../more/b", "more/b"],
    ["a link that stays within", "within/a.ts", "project/within/a.ts"],
    ["a link to itself, which is the editor's to refuse", "loop", "project/loop"],
    ["the way there by a link", "../linked-project/a", "linked-project/a"],
  ])("%s", async (_, path, found) => {
    expect(await workspace.inside(path)).toBe(join(base, found));
  });

  it.each([
    ["the directory above", ".."],
    ["a neighbour with the same beginning", "../project-two/a"],
    ["an absolute path", "/etc/passwd"],
    ["a link that leads away", "away/secret"],
    ["a new file behind such a link", "away/new"],
    ["a link to what is not there yet", "dangling"],
  ])("not %s", async (_, path) => {
    await expect(workspace.inside(path)).rejects.toMatchObject({
      code: "REFUSED_BY_POLICY",
      message: expect.stringContaining("outside of the session's directories"),
    });
  });
});
