// Which files the editor's tools may touch: those in the session's directories, and nothing beside them.

import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { PlugboardError } from "../../../model/errors.ts";
import { contains } from "../../../util/contains.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_PATH = 300;
/** As many as systems follow themselves. */
const MOST_LINKS = 40;

export class Workspace {
  readonly cwd: string;
  readonly #roots: readonly string[];

  /** `roots` are absolute; `cwd` is one of them. */
  constructor(cwd: string, roots: readonly string[]) {
    this.cwd = cwd;
    this.#roots = roots;
  }

  /** Absolute, whatever it leads to. */
  resolve(path: string): string {
    return resolve(this.cwd, path);
  }

  /**
   * Rejects with REFUSED_BY_POLICY for a file outside of the session's directories. Symbolic links are
   * followed as they are on this machine, where the editor is too.
   */
  async inside(path: string): Promise<string> {
    const absolute = this.resolve(path);
    const [real, ...roots] = await Promise.all(
      [absolute, ...this.#roots].map((each) => realPath(each, MOST_LINKS)),
    );
    if (real !== undefined && roots.some((root) => contains(root, real))) return absolute;
    throw new PlugboardError(
      "REFUSED_BY_POLICY",
      `${oneLine(absolute, LONGEST_PATH)} is outside of the session's directories ` +
        `(${this.#roots.map((root) => oneLine(root, LONGEST_PATH)).join(", ")})`,
      { hint: "only files in them can be read and written" },
    );
  }
}

/** Of a file that need not be there: a link that leads nowhere yet is followed all the same. */
async function realPath(path: string, links: number): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    if (above === path) return path;
    const directory = await realPath(above, links);
    const target = await readlink(path).catch(() => undefined);
    return target === undefined || links === 0
      ? join(directory, basename(path))
      : realPath(resolve(directory, target), links - 1);
  }
}
