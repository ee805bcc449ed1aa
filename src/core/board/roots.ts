// The roots of a board's servers: the directories that a server may ask for. A server gets roots only if its own
// settings or the board's ask for it, because some servers let roots replace the directories in their arguments.

import { basename, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { resolveDirectories } from "../config/resolve.ts";
import { PlugboardError } from "../types/errors.ts";
import type { Root, RootsSetting, RootsSource } from "../types/roots.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";

export interface BoardRootsOptions {
  /** The board's own option. Throws INVALID_ARGUMENTS for an entry that is not a directory. */
  given?: boolean | readonly string[];
  /** What the agent's configuration says for all of its servers. */
  configured?: RootsSetting;
  /** What `true` stands for; absolute. */
  workspace: readonly string[];
  /** For a session's board: the agent's, whose option holds where the session has none. */
  base?: BoardRoots;
}

export class BoardRoots {
  #cwd: string;
  #workspace: readonly Root[];
  readonly #given: boolean | readonly Root[] | undefined;
  #configured: RootsSetting | undefined;
  /** Each listener, with the roots that it listens to. */
  readonly #listeners = new Map<() => void, Pick<ServerRoots, "list" | "resolve">>();
  #replaced: readonly Root[] | undefined;

  constructor({ given, configured, workspace, base }: BoardRootsOptions) {
    const [cwd = process.cwd()] = workspace;
    this.#cwd = cwd;
    this.#workspace = workspace.map((each) => toRoot(each, cwd));
    if (given !== undefined && typeof given !== "boolean" && !Array.isArray(given)) {
      throw new PlugboardError("INVALID_ARGUMENTS", "roots must be true, false or a list");
    }
    const own = typeof given === "object" ? given.map((each) => toRoot(each, cwd)) : given;
    this.#given = own ?? (base && base.#given);
    this.#configured = configured;
  }

  /** The roots of one server. */
  of(
    { name, roots: own }: Pick<ServerDefinition, "name" | "roots">,
    env: Environment,
  ): ServerRoots {
    const hasOwn = own === false || typeof own === "object";
    const settingNow = (): readonly Root[] | RootsSetting | undefined =>
      own ?? this.#given ?? this.#configured;
    let expanded: readonly Root[] = [];
    const list = (): readonly Root[] | undefined => {
      if (!hasOwn && this.#replaced !== undefined) return this.#replaced;
      const setting = settingNow();
      if (setting === undefined || setting === false) return undefined;
      if (setting === true) return this.#workspace;
      return "directories" in setting ? expanded : setting;
    };
    const resolveOwn = (): void => {
      const setting = settingNow();
      if (typeof setting !== "object" || !("directories" in setting)) return;
      const path = own === undefined ? ["mcp", "roots"] : ["roots"];
      const directories = resolveDirectories(setting, path, env, name);
      expanded = directories.map((each) => asConfigured(each, this.#cwd, name));
    };
    return {
      list,
      resolve: resolveOwn,
      onChange: (listener) => {
        this.#listeners.set(listener, { list, resolve: resolveOwn });
        return () => this.#listeners.delete(listener);
      },
    };
  }

  /** Whether a server of that definition is told that there are roots, once `configured` applies. */
  areTold({ roots: own }: Pick<ServerDefinition, "roots">, configured?: RootsSetting): boolean {
    const hasOwn = own === false || typeof own === "object";
    if (!hasOwn && this.#replaced !== undefined) return true;
    return Boolean(own ?? this.#given ?? configured);
  }

  /** The configuration has been replaced. Tells the servers whose roots are others now. */
  reconfigure({
    configured,
    workspace,
  }: Pick<BoardRootsOptions, "configured" | "workspace">): void {
    this.#change(() => {
      const [cwd = process.cwd()] = workspace;
      this.#cwd = cwd;
      this.#workspace = workspace.map((each) => toRoot(each, cwd));
      this.#configured = configured;
      for (const { resolve: resolveAgain } of this.#listeners.values()) {
        try {
          resolveAgain();
        } catch {
          // A value is missing. The server's next start reports it.
        }
      }
    });
  }

  /**
   * Replaces the roots of every server that has no list of its own and no `roots: false`. Throws
   * INVALID_ARGUMENTS; then nothing has changed.
   */
  set(given: readonly string[]): void {
    const roots = given.map((each) => toRoot(each, this.#cwd));
    this.#change(() => {
      this.#replaced = roots;
    });
  }

  #change(change: () => void): void {
    const before = Array.from(this.#listeners, ([listener, { list }]) => {
      return { listener, list, had: JSON.stringify(list()) };
    });
    change();
    for (const { listener, list, had } of before) {
      if (JSON.stringify(list()) !== had) listener();
    }
  }
}

export interface ServerRoots extends RootsSource {
  /** Must be called before every start. Throws UNRESOLVED_VALUE or CONFIG_INVALID, both permanent. */
  resolve(): void;
}

function toRoot(given: string, cwd: string): Root {
  // A scheme has two letters or more: `C:\dir` is a path.
  const isUrl = /^[a-z][a-z\d+.-]+:\/\//i.test(given);
  const url = isUrl ? given : pathToFileURL(resolve(cwd, given)).href;
  try {
    const { href } = new URL(url);
    // Throws for other schemes, and for URLs that name another machine.
    const path = fileURLToPath(href);
    return { uri: href, name: basename(path) || path };
  } catch (error) {
    throw new PlugboardError("INVALID_ARGUMENTS", `'${given}' is not a directory on this machine`, {
      hint: "give a path, or a file: URL without a host",
      cause: error,
    });
  }
}

/** Does not quote the directory: a variable in it may hold anything. */
function asConfigured(given: string, cwd: string, server: string): Root {
  try {
    return toRoot(given, cwd);
  } catch (cause) {
    const message = `roots has an entry that is not a directory on this machine`;
    throw new PlugboardError("CONFIG_INVALID", message, {
      cause,
      server,
      permanent: true,
      hint: 'write paths into "roots", as in ["./docs"]',
    });
  }
}
