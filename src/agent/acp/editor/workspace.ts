// Which files the editor's tools may touch: those in the session's directories, and no others.

import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { PlugboardError } from "../../../core/types/errors.ts";
import { contains } from "../../../util/contains.ts";
import { oneLine } from "../../../util/text.ts";

const LONGEST_PATH = 300;
/** As many symbolic links as operating systems follow. */
const MAX_LINKS = 40;

export class Workspace {
  readonly cwd: string;
  readonly #roots: readonly string[];

  /** `roots` are absolute; `cwd` is one of them. */
  constructor(cwd: string, roots: readonly string[]) {
    this.cwd = cwd;
    this.#roots = roots;
  }

  /** The absolute path, which may lead outside. */
  resolve(path: string): string {
    return resolve(this.cwd, path);
  }

  /**
   * Resolves to the absolute path. Rejects with REFUSED_BY_POLICY for a file outside of the session's directories.
   * Symbolic links are followed on this machine, which is also the editor's.
   */
  async inside(path: string): Promise<string> {
    const absolute = this.resolve(path);
    const [real, ...roots] = await Promise.all(
      [absolute, ...this.#roots].map((each) => realPath(each, MAX_LINKS)),
    );
    if (real !== undefined && roots.some((root) => contains(root, real))) return absolute;
    throw new PlugboardError(
      "REFUSED_BY_POLICY",
      `${oneLine(absolute, LONGEST_PATH)} is outside of the session's directories ` +
        `(${this.#roots.map((root) => oneLine(root, LONGEST_PATH)).join(", ")})`,
      { hint: "only files in these directories can be read and written" },
    );
  }
}

/** Like `realpath`, for a file that need not exist: a link to a missing file is followed too. */
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
