// What a command line runs, whatever it is given: a package, a container's image, a module, a script, or the command
// itself.

export interface Program {
  kind: "package" | "image" | "module" | "script" | "command";
  /** A package and an image are without their version; a path is as it is written. */
  name: string;
  /** The name of the command without its path: `npx`, `docker`. */
  runner: string;
  /** Where the package comes from, if it is not the one of that name: `uvx --from <this> <name>`. */
  from?: string;
}

/** Programs that run a package, each with the words that stand between it and the package. */
const PACKAGE_RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ["exec", "x"],
  pnpm: ["dlx", "exec"],
  yarn: ["dlx"],
  bun: ["x"],
  pipx: ["run"],
  uv: ["tool", "run"],
};
const CONTAINER_RUNNERS: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);
const SCRIPT_RUNNERS = /^(?:node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh)$/;
/** Options whose value is a word of its own, and names nothing. */
const VALUED_OF_PACKAGES: ReadonlySet<string> = new Set([
  "--registry",
  "--cache",
  "--from",
  "--with",
  "--python",
  "--directory",
  "-w",
  "--workspace",
]);
const PACKAGE_OPTIONS: ReadonlySet<string> = new Set(["-p", "--package"]);
const FLAGS_OF_CONTAINERS =
  /^(?:-[itdP]+|--(?:rm|interactive|tty|init|privileged|read-only|detach))$/;
const VALUED_OF_SCRIPTS: ReadonlySet<string> = new Set([
  "-r",
  "--require",
  "--import",
  "--loader",
  "--conditions",
  "-C",
]);

export function programOf(command: string, args: readonly string[]): Program {
  const runner = (command.split(/[\\/]/).at(-1) ?? "").replace(/\.(?:exe|cmd|bat)$/i, "");
  const [first = "", second, ...rest] = args;
  if (/^cmd$/i.test(runner) && /^\/c$/i.test(first) && second !== undefined) {
    return programOf(second, rest);
  }
  if (CONTAINER_RUNNERS.has(runner) && first === "run") {
    const image = imageName(args.slice(1));
    return image === undefined
      ? { kind: "command", name: command, runner }
      : { kind: "image", name: image, runner };
  }
  const between = PACKAGE_RUNNERS[runner];
  if (between !== undefined) {
    const start = args.findIndex((word) => !between.includes(word));
    const isRun = between.length === 0 || start > 0;
    const named = isRun ? packageWord(args.slice(Math.max(0, start))) : undefined;
    if (named !== undefined) {
      if (isScript(named)) return { kind: "script", name: named, runner };
      const from = valueOf("--from", args);
      return {
        kind: "package",
        name: withoutVersion(named),
        runner,
        ...(from !== undefined && { from: withoutVersion(from) }),
      };
    }
  }
  if (!SCRIPT_RUNNERS.test(runner)) return { kind: "command", name: command, runner };
  const module = valueOf("-m", args);
  if (runner.startsWith("python") && module !== undefined) {
    return { kind: "module", name: module, runner };
  }
  const script = firstWord(first === "run" ? args.slice(1) : args, VALUED_OF_SCRIPTS);
  return script === undefined
    ? { kind: "command", name: command, runner }
    : { kind: "script", name: script, runner };
}

/** Whether the word is a file. A package may have a scope, and so a slash. */
export function isScript(word: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\.[cm]?[jt]sx?$|\.py$/.test(word);
}

function valueOf(option: string, args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => word === option || word.startsWith(`${option}=`));
  return args[at] === option ? args[at + 1] : args[at]?.slice(option.length + 1);
}

function firstWord(args: readonly string[], valued: ReadonlySet<string>): string | undefined {
  return args.find((word, at) => !word.startsWith("-") && !valued.has(args[at - 1] ?? ""));
}

function packageWord(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => PACKAGE_OPTIONS.has(word));
  return at === -1 ? firstWord(args, VALUED_OF_PACKAGES) : args[at + 1];
}

function withoutVersion(named: string): string {
  return named.replace(/(?<=.)@[^/]*$/, "").replace(/[=<>~!].*$/, "");
}

/** Most options of a container have a value, so the image is the first word that follows none of them. */
function imageName(args: readonly string[]): string | undefined {
  const image = args.find((word, at) => {
    const before = args[at - 1] ?? "";
    const isValue =
      before.startsWith("-") && !FLAGS_OF_CONTAINERS.test(before) && !before.includes("=");
    return !word.startsWith("-") && !isValue;
  });
  return image?.replace(/@sha256:.*$/, "").replace(/:[^/:]*$/, "");
}
