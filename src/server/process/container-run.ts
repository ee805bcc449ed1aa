// Recognises servers that are a `docker run` or `podman run`. The process we start is only a client, and
// the container does not go away with it: it gets the cookie as a label, to be stopped by.

import { posix, win32 } from "node:path";

export const COOKIE_LABEL = "plugboard.cookie";

/** A `run` as configured, taken apart at the place where options of `run` may be put in. */
export interface ContainerRun {
  /** The options between the engine's name and `run`: which daemon it is about. */
  globals: string[];
  /** Up to and including `run`. */
  head: string[];
  tail: string[];
}

/** Options of docker and podman themselves that are followed by a value. */
const VALUED = new Set(
  (
    "-c -H -l --config --context --host --log-level --tlscacert --tlscert --tlskey " +
    "--cdi-spec-dir --cgroup-manager --conmon --connection --events-backend --hooks-dir " +
    "--identity --imagestore --module --network-cmd-path --network-config-dir --out --root " +
    "--runroot --runtime --runtime-flag --ssh --storage-driver --storage-opt --tmpdir --url " +
    "--volumepath"
  ).split(" "),
);

/** `undefined` for whatever is not a container started through docker or podman. */
export function parseContainerRun(
  command: string,
  args: readonly string[],
): ContainerRun | undefined {
  const name = (command.includes("\\") ? win32 : posix).basename(command).toLowerCase();
  if (!/^(docker|podman)(\.exe)?$/.test(name)) return undefined;
  let at = 0;
  while (args[at]?.startsWith("-")) at += VALUED.has(args[at] ?? "") ? 2 : 1;
  const globals = args.slice(0, at);
  if (args[at] === "container") at += 1;
  if (args[at] !== "run") return undefined;
  return { globals, head: args.slice(0, at + 1), tail: args.slice(at + 1) };
}

export function labelledArgs({ head, tail }: ContainerRun, cookie: string): string[] {
  return [...head, "--label", `${COOKIE_LABEL}=${cookie}`, ...tail];
}
