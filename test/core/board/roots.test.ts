import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { BoardRoots, type BoardRootsOptions } from "../../../src/core/board/roots.ts";
import type { RootsSetting } from "../../../src/core/types/roots.ts";

const CWD = resolve("/srv/work");
const ENV = { HOME: "/home/ada", DATA: "/data" };

function board(options: Partial<BoardRootsOptions> = {}): BoardRoots {
  return new BoardRoots({ workspace: [CWD], ...options });
}

/** The roots of one server as paths, as it would get them after a start. */
function given(roots: BoardRoots, own?: RootsSetting): string[] | undefined {
  const server = roots.of({ name: "files", roots: own }, ENV);
  server.resolve();
  return server.list()?.map(({ uri }) => new URL(uri).pathname);
}

describe("a root", () => {
  it.each([
    ["a directory", join(CWD, "a b"), { uri: pathToFileURL(join(CWD, "a b")).href, name: "a b" }],
    ["a relative one", "sub", { uri: pathToFileURL(join(CWD, "sub")).href, name: "sub" }],
    ["a URL", "file:///srv/x%20y", { uri: "file:///srv/x%20y", name: "x y" }],
    ["the root of all", "file:///", { uri: "file:///", name: "/" }],
    [
      "characters that have a meaning in URLs",
      "/srv/100%#?",
      { uri: "file:///srv/100%25%23%3F", name: "100%#?" },
    ],
  ])("may be %s", (_, directory, root) => {
    expect(
      board({ given: [directory] })
        .of({ name: "files" }, ENV)
        .list(),
    ).toEqual([root]);
  });

  it.each(["https://example.com", "file://elsewhere/x", "file:///a%2fb"])(
    "cannot be %s",
    (directory) => {
      const invalid = expect.objectContaining({ code: "INVALID_ARGUMENTS" });
      expect(() => board({ given: [directory] })).toThrow(invalid);
      const roots = board({ given: ["/a"] });
      expect(() => roots.set(["/b", directory])).toThrow(invalid);
      expect(given(roots)).toEqual(["/a"]);
      const wrong = expect.objectContaining({ code: "CONFIG_INVALID", permanent: true });
      expect(() => given(roots, { directories: [directory] })).toThrow(wrong);
    },
  );

  it("is refused where the list is not one", () => {
    expect(() => board({ given: "/a" as never })).toThrow("roots must be true, false or a list");
  });
});

describe("a server gets", () => {
  it.each<[string, Partial<BoardRootsOptions>, RootsSetting | undefined, string[] | undefined]>([
    ["no roots unless somebody asks for them", {}, undefined, undefined],
    ["the working directory for true", {}, true, [CWD]],
    ["the working directory for the agent's true", { configured: true }, undefined, [CWD]],
    ["the working directory for the board's true", { given: true }, undefined, [CWD]],
    ["every directory of a session for true", { workspace: [CWD, "/more"] }, true, [CWD, "/more"]],
    ["its own list before the agent's", { configured: true }, { directories: ["/a"] }, ["/a"]],
    ["the working directory before the agent's list", { given: ["/a"] }, true, [CWD]],
    ["no roots for false, whatever the agent has", { configured: true }, false, undefined],
    [
      "the board's before the configuration's",
      { given: false, configured: true },
      undefined,
      undefined,
    ],
    [
      "the agent's board's in a session",
      { base: board({ given: ["x"] }) },
      undefined,
      [`${CWD}/x`],
    ],
    [
      "the session's before the agent's board's",
      { given: false, base: board({ given: true }) },
      undefined,
      undefined,
    ],
    [
      "paths relative to the file, with variables and ~ filled in",
      { configured: { directories: ["sub", "~/docs", "${DATA}/x", "file:///y"], baseDir: "/etc" } },
      undefined,
      ["/etc/sub", "/home/ada/docs", "/data/x", "/y"],
    ],
    ["an empty list for an empty list", { given: [] }, undefined, []],
  ])("%s", (_, options, own, expected) => {
    expect(given(board(options), own)).toEqual(expected);
  });

  it.each<[string, Partial<BoardRootsOptions>, RootsSetting | undefined, string]>([
    ["its own", {}, { directories: ["/a", "${NOPE}"] }, "roots[1] needs the variable NOPE"],
    ["the agent's", { configured: { directories: ["${NOPE}"] } }, undefined, "mcp.roots[0] needs"],
  ])("an error for a variable that is not set in %s list", (_, options, own, message) => {
    const error = { code: "UNRESOLVED_VALUE", message: expect.stringContaining(message) };
    expect(() => given(board(options), own)).toThrow(expect.objectContaining(error));
  });
});

describe("roots that are set later", () => {
  it.each<[string, RootsSetting | undefined, string[] | undefined]>([
    ["reach a server that had none", undefined, ["/new"]],
    ["replace the working directory", true, ["/new"]],
    ["do not replace a server's own list", { directories: ["/a"] }, ["/a"]],
    ["do not reach a server that wants none", false, undefined],
  ])("%s", (_, own, expected) => {
    const roots = board();
    roots.set(["/new"]);
    expect(given(roots, own)).toEqual(expected);
  });

  it("are announced to the servers whose roots change", () => {
    const roots = board({ given: ["/a"] });
    const [general, own] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const off = roots.of({ name: "general" }, ENV).onChange(general);
    roots.of({ name: "own", roots: { directories: ["/b"] } }, ENV).onChange(own);
    roots.set(["/a"]);
    expect(general).not.toHaveBeenCalled();
    roots.set(["/b"]);
    expect(general).toHaveBeenCalledTimes(1);
    off();
    roots.set(["/c"]);
    expect(general).toHaveBeenCalledTimes(1);
    expect(own).not.toHaveBeenCalled();
  });
});
