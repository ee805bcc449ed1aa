// Says in words what the machine refused: open files, space, memory, a directory that is gone. Imports nothing, so
// that it works where no further module can be loaded.

export interface SystemProblem {
  message: string;
  /** What to do about it. */
  hint: string;
}

const FREE_SPACE = "free some space, or set PLUGBOARD_HOME to a directory on another disk";
const OTHER_HOME = "check its owner and its mode, or set PLUGBOARD_HOME to another directory";

const IN_THE_WAY: SystemProblem = {
  message: "% is a directory, but a file belongs there",
  hint: "move it away",
};

/** `%` stands for the file, if the system names one. */
const PROBLEMS: ReadonlyMap<unknown, SystemProblem> = new Map([
  [
    "EMFILE",
    {
      message: "Plugboard may not open as many files as it needs",
      hint: "raise the limit, such as with: ulimit -n 1024",
    },
  ],
  [
    "ENFILE",
    { message: "the system has too many files open", hint: "close programs that you do not need" },
  ],
  [
    "ENOMEM",
    { message: "the system is out of memory", hint: "close programs that you do not need" },
  ],
  ["ENOSPC", { message: "the disk is full: % cannot be written", hint: FREE_SPACE }],
  ["EDQUOT", { message: "your disk quota is used up: % cannot be written", hint: FREE_SPACE }],
  [
    "EFBIG",
    {
      message: "% would become larger than this shell allows",
      hint: "raise the limit, such as with: ulimit -f unlimited",
    },
  ],
  ["EROFS", { message: "% cannot be written: the disk is read-only", hint: OTHER_HOME }],
  ["EACCES", { message: "you may not read or write %", hint: OTHER_HOME }],
  ["EPERM", { message: "you may not read or write %", hint: OTHER_HOME }],
  ["EISDIR", IN_THE_WAY],
  ["ERR_FS_EISDIR", IN_THE_WAY],
  ["EIO", { message: "% cannot be read or written: the disk has a fault", hint: "check the disk" }],
]);

const GONE: SystemProblem = {
  message: "the working directory does not exist any more",
  hint: "change to a directory that exists, and try again",
};
const NO_DIRECTORY: SystemProblem = {
  message: "the directory % cannot be created",
  hint: "check its path; Plugboard's own files are where PLUGBOARD_HOME says",
};
const TOO_DEEP: SystemProblem = {
  message: "a value is nested too deep to be processed",
  hint: "make it flatter",
};

/** Undefined for any other error. */
export function systemProblem(error: unknown): SystemProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  // V8 gives this error no code.
  if (error instanceof RangeError && /call stack/i.test(error.message)) return TOO_DEEP;
  const { code, syscall, path, dest } = error as NodeJS.ErrnoException & { dest?: unknown };
  if (code === "ENOENT" && syscall === "uv_cwd") return GONE;
  const problem = typeof syscall === "string" ? problemOf(code, syscall) : undefined;
  if (problem === undefined) return undefined;
  // A file is written under another name first, and renamed.
  const file = [code === "EISDIR" ? dest : undefined, path].find(
    (each) => typeof each === "string",
  );
  return { ...problem, message: problem.message.replace("%", () => file ?? "a file") };
}

/** The caller names a missing file itself, except for a directory that was about to be made. */
function problemOf(code: unknown, syscall: string): SystemProblem | undefined {
  const isMissing = code === "ENOENT" || code === "ENOTDIR";
  return isMissing && syscall === "mkdir" ? NO_DIRECTORY : PROBLEMS.get(code);
}

/** For a log line or a message that says what failed already: only why. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return systemProblem(error)?.message ?? message;
}

/** Why a text could not be written to stdout: `no space left on device (ENOSPC)`. */
export function outputProblem({ message }: Error): string {
  return message.replace(/^(E[A-Z0-9]+): (.*), write$/s, "$2 ($1)");
}
