import { expect, it } from "vitest";
import { outputProblem, reasonOf, systemProblem } from "../../src/util/system-problem.ts";

function failed(code: string, syscall: string, path?: string): Error {
  return Object.assign(new Error(`${code}: …, ${syscall}`), { code, syscall, path });
}

function overflow(): unknown {
  try {
    return overflow();
  } catch (error) {
    return error;
  }
}

it.each<[string, unknown, message: string, hint: string]>([
  [
    "too few open files",
    failed("EMFILE", "open", "/a"),
    "Plugboard may not open as many files as it needs",
    "ulimit -n",
  ],
  [
    "a full disk",
    failed("ENOSPC", "write", "/a"),
    "the disk is full: /a cannot be written",
    "free",
  ],
  ["a full disk, somewhere", failed("ENOSPC", "write"), "a file cannot be written", "free"],
  ["a limit on sizes", failed("EFBIG", "write"), "a file would become larger", "ulimit -f"],
  ["a read-only disk", failed("EROFS", "open", "/$&"), "/$& cannot be written", "PLUGBOARD_HOME"],
  ["no permission", failed("EACCES", "open", "/a"), "you may not read or write /a", "owner"],
  ["a directory in the way", failed("ERR_FS_EISDIR", "rm", "/a"), "/a is a directory", "move"],
  [
    "a directory in the way of a new file",
    Object.assign(failed("EISDIR", "rename", "/a.tmp"), { dest: "/a" }),
    "/a is a directory",
    "move",
  ],
  [
    "no place for a directory",
    failed("ENOENT", "mkdir", "/a"),
    "the directory /a cannot be created",
    "PLUGBOARD_HOME",
  ],
  [
    "a file in the way of a directory",
    failed("ENOTDIR", "mkdir", "/a/b"),
    "the directory /a/b cannot be created",
    "path",
  ],
  ["no working directory", failed("ENOENT", "uv_cwd"), "the working directory does not", "change"],
  ["a deep value", overflow(), "a value is nested too deep to be processed", "flatter"],
])("%s is said in words, with what to do", (_, error, message, hint) => {
  expect(systemProblem(error)).toEqual({
    message: expect.stringContaining(message) as unknown,
    hint: expect.stringContaining(hint) as unknown,
  });
});

it.each([
  ["a missing file", failed("ENOENT", "open", "/a")],
  ["a code without a system call", Object.assign(new Error("no"), { code: "EACCES" })],
  ["another range", new RangeError("Invalid array length")],
  ["a bug", new TypeError("x is not a function")],
  ["no error", "EMFILE"],
])("%s is not a problem of the system", (_, error) => {
  expect(systemProblem(error)).toBeUndefined();
});

it.each<[unknown, string]>([
  [failed("ENOSPC", "write", "/a"), "the disk is full: /a cannot be written"],
  [new TypeError("x is not a function"), "x is not a function"],
  ["broken", "broken"],
])("the reason of %s", (error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

it("output that is lost has the words of the system, and its code", () => {
  const full = new Error("ENOSPC: no space left on device, write");
  expect(outputProblem(full)).toBe("no space left on device (ENOSPC)");
  expect(outputProblem(new Error("write after end"))).toBe("write after end");
});
