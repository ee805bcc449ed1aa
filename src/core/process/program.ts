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
  /** The settings that decide from which registry a package comes: options, and what `env` sets, as they are written. */
  registry?: readonly string[];
}

/** Programs that run a package, each with the words that stand between it and the package. */
const PACKAGE_RUNNERS = new Map(
  Object.entries<readonly string[]>({
    npx: [],
    bunx: [],
    pnpx: [],
    uvx: [],
    dnx: [],
    npm: ["exec", "x"],
    pnpm: ["dlx", "exec"],
    yarn: ["dlx"],
    bun: ["x"],
    pipx: ["run"],
    uv: ["tool", "run"],
  }),
);
const CONTAINER_RUNNERS: ReadonlySet<string> = new Set(["docker", "podman", "nerdctl"]);
const SCRIPT_RUNNERS =
  /^(?:node|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh|java|dotnet)$/;
const PACKAGE_OPTIONS = ["-p", "--package"] as const;
/** Options whose value is a word of its own. */
const VALUED_OF_PACKAGES: ReadonlySet<string> = new Set([
  "--registry",
  "--userconfig",
  "--globalconfig",
  "--cache",
  "-i",
  "--index",
  "--index-url",
  "--default-index",
  "--extra-index-url",
  "-f",
  "--find-links",
  "--config-file",
  "--from",
  "--with",
  "--python",
  "--directory",
  "-w",
  "--workspace",
  ...PACKAGE_OPTIONS,
]);
/** All that have no value: with one that is not known, the word behind the image would be taken for it. */
const FLAGS_OF_CONTAINERS =
  /^(?:-[itdPq]+|--(?:rm|rmi|interactive|tty|init|privileged|read-only|read-only-tmpfs|detach|publish-all|quiet|replace|no-healthcheck|no-hosts|no-hostname|oom-kill-disable|sig-proxy|disable-content-trust|use-api-socket|tls-verify|http-proxy|env-host|unsetenv-all|passwd|rootfs))$/;
const VALUED_OF_SCRIPTS: ReadonlySet<string> = new Set([
  "-r",
  "--require",
  "--import",
  "--loader",
  "--conditions",
  "-C",
  "-m",
  "-cp",
  "-classpath",
  "--class-path",
  "--module-path",
]);

const VALUED_OF_ENV: ReadonlySet<string> = new Set(["-u", "--unset", "-C", "--chdir"]);

/** The names of settings that decide from which registry a package comes, as `choosesRegistry` compares them. */
const REGISTRY_SETTINGS =
  /^(?:(?:.*[_:])?registry(?:_server)?|userconfig|globalconfig|i|index|index_url|default_index|extra_index_url|f|find_links|config_file)$/;

/** Whether an option, `--registry`, or a variable, `npm_config_registry`, decides from which registry a package comes. */
export function choosesRegistry(name: string): boolean {
  const isOption = name.startsWith("-");
  const plain = name.replace(/^-+/, "").toLowerCase().replaceAll("-", "_");
  const [, own = isOption ? plain : ""] =
    /^(?:p?npm_config|bun_config|yarn_npm|yarn|uv|pip)_(.+)$/.exec(plain) ?? [];
  return REGISTRY_SETTINGS.test(own);
}

export function programOf(command: string, args: readonly string[]): Program {
  const runner = (command.split(/[\\/]/).at(-1) ?? "").replace(/\.(?:exe|cmd|bat)$/i, "");
  const [first = "", second, ...rest] = args;
  if (/^cmd$/i.test(runner) && /^\/c$/i.test(first) && second !== undefined) {
    return programOf(second, rest);
  }
  if (runner === "env") {
    const at = args.findIndex(
      (word, index) => !/^-|=/.test(word) && !VALUED_OF_ENV.has(args[index - 1] ?? ""),
    );
    const run = args[at];
    if (run !== undefined) {
      const program = programOf(run, args.slice(at + 1));
      const set = args.slice(0, at).filter((word) => choosesRegistry(word.split("=", 1)[0] ?? ""));
      return set.length === 0
        ? program
        : { ...program, registry: [...set, ...(program.registry ?? [])] };
    }
  }
  if (CONTAINER_RUNNERS.has(runner) && first === "run") {
    const image = imageName(args.slice(1));
    return image === undefined
      ? { kind: "command", name: command, runner }
      : { kind: "image", name: image, runner };
  }
  const between = PACKAGE_RUNNERS.get(runner);
  if (between !== undefined) {
    const start = args.findIndex((word) => !between.includes(word));
    const isRun = between.length === 0 || start > 0;
    const words = isRun ? args.slice(Math.max(0, start)) : [];
    const { word, valueOf, options } = readWords(words, VALUED_OF_PACKAGES);
    const [named = word] = PACKAGE_OPTIONS.flatMap((option) => valueOf(option) ?? []);
    if (named !== undefined) {
      if (isScript(named)) return { kind: "script", name: named, runner };
      const from = valueOf("--from");
      const registry = registryOptions(options);
      return {
        kind: "package",
        name: withoutVersion(named),
        runner,
        ...(from !== undefined && { from: withoutVersion(from) }),
        ...(registry.length > 0 && { registry }),
      };
    }
  }
  if (!SCRIPT_RUNNERS.test(runner)) return { kind: "command", name: command, runner };
  const given = readWords(first === "run" ? args.slice(1) : args, VALUED_OF_SCRIPTS);
  const module = given.valueOf("-m");
  if (runner.startsWith("python") && module !== undefined) {
    return { kind: "module", name: module, runner };
  }
  return given.word === undefined
    ? { kind: "command", name: command, runner }
    : { kind: "script", name: given.word, runner };
}

/** Each with its value. */
function registryOptions(options: readonly string[]): string[] {
  return options.flatMap((each, at) => {
    const [name = ""] = each.split("=", 1);
    if (!each.startsWith("-") || !choosesRegistry(name)) return [];
    return [name === each ? `${name}=${options[at + 1] ?? ""}` : each];
  });
}

/** Whether the word is a file. A package may have a scope, and so a slash. */
export function isScript(word: string): boolean {
  return /^[./~\\]|^[A-Za-z]:[\\/]|\.[cm]?[jt]sx?$|\.py$/.test(word);
}

/**
 * The first word that is not an option, and the options before it. What follows is for the program that it names, which must
 * not look like another one because of it.
 */
function readWords(
  args: readonly string[],
  valued: ReadonlySet<string>,
): {
  word: string | undefined;
  valueOf: (option: string) => string | undefined;
  options: readonly string[];
} {
  const found = args.findIndex(
    (word, at) => !word.startsWith("-") && !valued.has(args[at - 1] ?? ""),
  );
  const options = found === -1 ? args : args.slice(0, found);
  return {
    word: args[found],
    options,
    valueOf: (option) => {
      const at = options.findIndex((word) => word === option || word.startsWith(`${option}=`));
      return options[at] === option ? options[at + 1] : options[at]?.slice(option.length + 1);
    },
  };
}

/** What names another package stays: `files@npm:evil`. */
function withoutVersion(named: string): string {
  return named.replace(/(?<=.)@[^/:]*$/, "").replace(/[=<>~!].*$/, "");
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
