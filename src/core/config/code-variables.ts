// The environment variables that make a program run code which its command line does not show. Whoever reads a command
// before they agree to it would not see that code, so a definition from somebody else may not set them.

import { delimiter } from "node:path";

interface CodeVariable {
  /** In upper case. A `*` at the end stands for any text. */
  names: readonly string[];
  /** Completes a sentence that begins with the variable. */
  reason: string;
}

const CODE_VARIABLES: readonly CodeVariable[] = [
  { names: ["LD_*", "DYLD_*", "GCONV_PATH"], reason: "loads libraries into every program" },
  {
    names: ["NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS"],
    reason: "loads modules into every program of Node.js or Bun",
  },
  {
    names: ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE"],
    reason: "loads modules into every program of Python",
  },
  {
    names: ["BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND"],
    reason: "is run by every shell",
  },
  {
    names: ["PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB"],
    reason: "loads modules into every program of Perl",
  },
  { names: ["RUBYOPT", "RUBYLIB"], reason: "loads code into every program of Ruby" },
  {
    names: ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"],
    reason: "loads agents into every program of Java",
  },
  {
    names: ["DOTNET_STARTUP_HOOKS", "DOTNET_ADDITIONAL_DEPS", "CORECLR_*", "COR_*"],
    reason: "loads code into every program of .NET",
  },
  { names: ["PHPRC", "PHP_INI_SCAN_DIR"], reason: "chooses settings of PHP, which can load code" },
  { names: ["LUA_INIT*"], reason: "is run by every program of Lua" },
  {
    names: [
      "GIT_SSH",
      "GIT_SSH_COMMAND",
      "GIT_ASKPASS",
      "GIT_PROXY_COMMAND",
      "GIT_EXTERNAL_DIFF",
      "GIT_CONFIG*",
      "GIT_EXEC_PATH",
    ],
    reason: "names a program that git runs, or settings that do",
  },
  {
    names: [
      "NPM_CONFIG_SCRIPT_SHELL",
      "NPM_CONFIG_SHELL",
      "NPM_CONFIG_IGNORE_SCRIPTS",
      "NPM_CONFIG_NODE_OPTIONS",
      "NPM_CONFIG_NODE_GYP",
      "NPM_CONFIG_GIT",
      "NPM_CONFIG_PYTHON",
      "NPM_CONFIG_USERCONFIG",
      "NPM_CONFIG_GLOBALCONFIG",
      "NPM_CONFIG_PREFIX",
    ],
    reason: "decides which scripts npm runs, and with what",
  },
  {
    // `npm_config_@scope:registry` is the registry of a scope.
    names: [
      "NPM_CONFIG_REGISTRY",
      "NPM_CONFIG_@*",
      "BUN_CONFIG_REGISTRY",
      "PIP_INDEX_URL",
      "PIP_EXTRA_INDEX_URL",
      "PIP_FIND_LINKS",
      "UV_INDEX*",
      "UV_DEFAULT_INDEX",
      "UV_EXTRA_INDEX_URL",
      "UV_FIND_LINKS",
    ],
    reason: "chooses where packages come from, whatever their names are",
  },
];

/**
 * Refused from a registry and a bundle alone. Files of other applications and sessions of editors often set PATH: what a
 * desktop starts does not have the shell's, and their servers would not start without it.
 */
const PATH_REASON = "chooses which programs are run, whatever the command names";
/** What is in the directory of a project, or of a server, would run in place of your programs. */
const RELATIVE_REASON =
  "has a directory that is not absolute, whose programs would run in place of yours";
const BEGINS_ABSOLUTE = /^(?:[/\\~$%]|[A-Za-z]:[\\/])/;

const EXACT = new Map(
  CODE_VARIABLES.flatMap(({ names, reason }) => names.map((name) => [name, reason] as const)),
);
const BEGINNINGS = [...EXACT].flatMap(([name, reason]) =>
  name.endsWith("*") ? [[name.slice(0, -1), reason] as const] : [],
);

/**
 * Why somebody else may not set the variable, to be put after its name; undefined for any other. A publisher is whoever
 * offers a server in a registry or a bundle. The case of letters does not count, as on Windows and for npm, to which `-`
 * and `_` are the same.
 */
export function codeVariableReason(
  name: string,
  value?: unknown,
  by?: "publisher",
): string | undefined {
  const folded = name.toUpperCase().replaceAll("-", "_");
  if (folded === "PATH") {
    if (by === "publisher") return PATH_REASON;
    return typeof value === "string" && hasRelativeDirectory(value) ? RELATIVE_REASON : undefined;
  }
  const begun = BEGINNINGS.find(([beginning]) => folded.startsWith(beginning));
  return EXACT.get(folded) ?? begun?.[1];
}

/** An empty part stands for the directory that the program runs in. */
function hasRelativeDirectory(path: string): boolean {
  return path.split(delimiter).some((directory) => !BEGINS_ABSOLUTE.test(directory));
}
