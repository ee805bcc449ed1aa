import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EditorPath } from "../../../src/cli/doctor/editor-path.ts";
import { editorFindings, nodeFinding, pathFindings } from "../../../src/cli/doctor/host.ts";

let bin = "";

beforeAll(() => {
  bin = mkdtempSync(join(tmpdir(), "plugboard-bin-"));
  for (const name of ["npx", "uvx"]) {
    writeFileSync(join(bin, name), "#!/bin/sh\n");
    chmodSync(join(bin, name), 0o755);
  }
});

afterAll(() => rmSync(bin, { recursive: true }));

describe("Node", () => {
  it.each([
    ["18.20.4", "20.19", "broken"],
    ["20.9.0", "20.19", "broken"],
    ["20.19.0", "20.19", "ok"],
    ["20.20.2", "20.19", "ok"],
    ["24.0.0", "20.19.1", "ok"],
  ])("%s, where %s is needed, is %s", (version, needed, level) => {
    expect(nodeFinding(version, needed)).toMatchObject({ level, check: "node-version" });
  });
});

describe("the PATH of this terminal", () => {
  it.each([
    ["is missing", () => ({}), "broken", "path"],
    ["is empty", () => ({ PATH: "" }), "broken", "path"],
    ["has no npx", () => ({ PATH: "/nonexistent" }), "warning", "npm"],
    ["has npx", () => ({ PATH: bin }), "ok", "npm"],
  ])("%s", (_, env, level, check) => {
    expect(pathFindings(env(), "linux")).toMatchObject([{ level, check }]);
  });
});

describe("the PATH of an editor", () => {
  const nowhere = { desktop: "/nonexistent", withShell: "/nonexistent", shell: "/bin/zsh" };

  it.each<[string, () => EditorPath, string, string]>([
    ["has everything", () => ({ desktop: bin, withShell: bin }), "ok", "the same programs"],
    [
      "has it only with that of the login shell",
      () => ({ ...nowhere, withShell: bin }),
      "ok",
      "the same programs",
    ],
    [
      "lacks what only this terminal has",
      () => nowhere,
      "warning",
      "does not find npx and uvx: they are on the PATH of this terminal, and /bin/zsh does not",
    ],
    [
      "is unknown, because the shell does not answer",
      () => ({ ...nowhere, problem: "could not get the PATH of /bin/zsh: it hangs" }),
      "warning",
      "it hangs; in an application that is started from the desktop, your servers have only the PATH",
    ],
  ])("%s", (_, editor, level, message) => {
    expect(editorFindings({ PATH: bin }, editor())).toEqual([
      expect.objectContaining({
        level,
        check: "editor-path",
        message: expect.stringContaining(message),
      }),
    ]);
  });
});
