import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { BoardRoots } from "../../src/board/roots.ts";

const CWD = resolve("/srv/work");

describe("roots", () => {
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
  ])("may be %s", (_, given, root) => {
    expect(new BoardRoots([given], CWD).list()).toEqual([root]);
  });

  it.each(["https://example.com", "file://elsewhere/x", "file:///a%2fb"])(
    "cannot be %s",
    (given) => {
      const invalid = expect.objectContaining({ code: "INVALID_ARGUMENTS" });
      expect(() => new BoardRoots([given], CWD)).toThrow(invalid);
      const roots = new BoardRoots(["/a"], CWD);
      expect(() => roots.set(["/b", given])).toThrow(invalid);
      expect(roots.list()).toMatchObject([{ name: "a" }]);
    },
  );

  it("are undefined until they are set", () => {
    const roots = new BoardRoots(undefined, CWD);
    expect(roots.list()).toBeUndefined();
    roots.set([]);
    expect(roots.list()).toEqual([]);
  });

  it("call their listeners when they change", () => {
    const roots = new BoardRoots(["/a"], CWD);
    const listener = vi.fn<() => void>();
    const off = roots.onChange(listener);
    roots.set(["/a"]);
    expect(listener).not.toHaveBeenCalled();
    roots.set(["/b"]);
    expect(listener).toHaveBeenCalledTimes(1);
    off();
    roots.set(["/c"]);
    expect(listener).toHaveBeenCalledTimes(1);
  });
});
