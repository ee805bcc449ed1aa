// What a person should look at twice before a server that somebody else has written down is started.

import { codeVariableReason } from "../../core/config/code-variables.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { visible } from "../../util/visible.ts";

const SHELLS = /^(?:sh|bash|zsh|dash|fish|cmd|powershell|pwsh)(?:\.exe)?$/i;
const OTHER_USER = /^(?:sudo|doas|su|runas|pkexec)(?:\.exe)?$/i;
const DELETES = /\brm\s+(?:-\w+\s+)*-\w*[rf]|\bdel\s+\/[fsq]|\bformat\s+[a-z]:/i;
const FETCHES_CODE = /\b(?:curl|wget|iwr|invoke-webrequest)\b[^|]{0,1000}\|\s*\w*sh\b/i;
const KEYS =
  /(?:^|[\s/\\=:,"'])(?:\.ssh|\.aws|\.gnupg|\.kube|\.docker|\.netrc|\.npmrc|\.config[/\\]gcloud|id_rsa|id_ed25519)(?:$|[\s/\\=:,"'])/i;
const HOME =
  /(?:^|[\s=:,"'])(?:~|\$\$?\{?HOME\}?|%USERPROFILE%|\/root|\/home\/[^/\s]+|\/Users\/[^/\s]+)(?:$|[\s/\\:,"'])/i;
const SYSTEM = /(?:^|[\s=:,"'])\/(?:etc|proc|sys|dev|boot)(?:$|[\s/:,"'])/;

/** Variables that run no code themselves, and still decide which programs, machines and certificates are used. */
const STEERS = /^(?:PATH|HOME|SHELL|.*_PROXY|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|DOCKER_\w+)$/i;

/** Options of what gets and starts a package that let something else run than the package that is named. */
const RUNNERS: Readonly<Record<string, RegExp>> = {
  npx: /^(?:-c|--call|-p|--package|--registry|--userconfig|--globalconfig|--prefix|--node-options|--script-shell|--shell|--cache)(?:=|$)/,
  uvx: /^(?:--from|-w|--with|--with-editable|--with-requirements|--index|--default-index|-i|--index-url|--extra-index-url|-f|--find-links|-p|--python|--env-file|--config-file|--directory|--project|--allow-insecure-host)(?:=|$)/,
  dnx: /^(?:--source|--add-source|--configfile)(?:=|$)/,
};

/** What docker gives a container of this machine. */
const CONTAINER: readonly [RegExp, string][] = [
  [/^--privileged(?:=true)?$/, "the container gets all rights on this machine (--privileged)"],
  [
    /^--(?:network|net|pid|ipc|uts|userns)=host$/,
    "the container is not separated from this machine",
  ],
  [/^--(?:cap-add|security-opt|device)\b/, "the container gets rights that containers do not have"],
  [/^--volumes-from(?:=|$)/, "the container gets the files of other containers"],
  [/^--env-file(?:=|$)/, "the container gets what is in a file of this machine"],
  [/^--entrypoint(?:=|$)/, "the container runs another program than its image is made for"],
  [/docker\.sock/, "the container gets control over docker, and so over this machine"],
];

/** Sentences, one for each thing. `given` is what the person has given, which needs no warning. */
export function suspicions(server: ServerConfig, given: readonly string[] = []): string[] {
  const { command = "", args = [], env = {}, url = "" } = server;
  const own = given.filter((value) => value.length > 1);
  const words = [command, ...args];
  const foreign = [...words, ...Object.values(env)].map((word) =>
    own.reduce((rest, value) => rest.replaceAll(value, ""), word),
  );
  const line = foreign.join(" ");
  const program = (word: string): string => word.split(/[/\\]/).at(-1) ?? "";
  const found = [
    ...(foreign.some((word) => OTHER_USER.test(program(word)))
      ? ["it runs with the rights of another user (sudo or the like)"]
      : []),
    ...(foreign.some((word) => SHELLS.test(program(word))) ? ["it runs commands in a shell"] : []),
    ...(DELETES.test(line) ? ["it deletes files (rm -rf or the like)"] : []),
    ...(FETCHES_CODE.test(line) ? ["it runs code that it gets from the network"] : []),
    ...(KEYS.test(line) ? ["it names a place where keys and credentials are kept"] : []),
    ...(foreign.some((word) => HOME.test(word)) ? ["it names your home directory"] : []),
    ...(foreign.some((word) => SYSTEM.test(word)) ? ["it names files of the system"] : []),
    ...Object.entries(env).flatMap(([name, value]) => {
      const steers = STEERS.test(name) ? "decides what else is used" : undefined;
      const reason = codeVariableReason(name, value) ?? steers;
      return reason === undefined ? [] : [`it sets ${visible(name)}, which ${reason}`];
    }),
    // oxlint-disable-next-line no-control-regex
    ...(/[^\u0000-\u007f]/.test(url) ? ["its address has letters that look like others"] : []),
    ...runnerSuspicions(program(command), args),
    ...(/^(?:docker|podman)$/.test(program(command)) ? containerSuspicions(args) : []),
  ];
  return found.map((each) => `warning: ${each}`);
}

/** Options after the name of the package are the package's own. */
function runnerSuspicions(program: string, args: readonly string[]): string[] {
  const options = RUNNERS[program];
  if (options === undefined) return [];
  const end = args.findIndex((arg) => !arg.startsWith("-"));
  const own = end === -1 ? args : args.slice(0, end);
  return own
    .filter((arg) => options.test(arg))
    .map((arg) => `it gives ${program} ${visible(arg)}, which decides what is run`);
}

function containerSuspicions(args: readonly string[]): string[] {
  const joined = args.map((arg, at) =>
    /^--(?:network|net|pid|ipc|uts|userns)$/.test(args[at - 1] ?? "")
      ? `${args[at - 1]}=${arg}`
      : arg,
  );
  return [
    ...CONTAINER.flatMap(([pattern, what]) =>
      joined.some((arg) => pattern.test(arg)) ? [what] : [],
    ),
    ...(args[0] === "run" ? [] : ["it does something else with docker than to run a container"]),
    ...mounts(args).map((source) =>
      source === "/"
        ? "the container gets all files of this machine"
        : `the container gets ${visible(source)} of this machine`,
    ),
  ];
}

/** The sources of `-v source:target` and `--mount type=bind,src=source`. */
function mounts(args: readonly string[]): string[] {
  return args.flatMap((arg, at) => {
    const before = args[at - 1] ?? "";
    const [, volume] =
      /^(?:-[it]*v|--volume)=?(.+)$/s.exec(arg) ??
      (/^(?:-[it]*v|--volume)$/.test(before) ? [arg, arg] : []);
    if (volume !== undefined) {
      const [source = ""] = volume.split(/:(?=[/\\])/);
      return /^[/~.\\$]|^[A-Za-z]:/.test(source) ? [source] : [];
    }
    const [, mount] = /^--mount=(.+)$/s.exec(arg) ?? (before === "--mount" ? [arg, arg] : []);
    const [, source] = /(?:^|,)(?:src|source)=([^,]+)/.exec(mount ?? "") ?? [];
    return source === undefined || /(?:^|,)type=(?:volume|tmpfs)/.test(mount ?? "") ? [] : [source];
  });
}
