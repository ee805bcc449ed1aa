// This machine: Node, npm, the working directory, and the PATH with which servers are found.

import { isOnPath } from "../../util/on-path.ts";
import { inWords } from "../../util/text.ts";
import { compareVersions, neededNodeVersion, packageVersion } from "../../util/version.ts";
import type { CliIo } from "../io.ts";
import type { EditorPath } from "./editor-path.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const hostGroup: CheckGroup = {
  title: "This machine",
  async *run({ cli, hasDirectory, editorPath }) {
    const { env } = cli.io;
    yield nodeFinding(process.versions.node, neededNodeVersion());
    yield {
      level: "ok",
      check: "platform",
      message: `Plugboard ${packageVersion()} on ${process.platform} ${process.arch}`,
    };
    if (!hasDirectory) yield goneDirectory();
    yield* pathFindings(env, process.platform);
    // Without a PATH here there is nothing to compare.
    if (env["PATH"] && process.platform !== "win32") yield* editorFindings(env, await editorPath());
  },
};

export function nodeFinding(version: string, needed: string): Finding {
  if (compareVersions(version, needed) >= 0) {
    return { level: "ok", check: "node-version", message: `Node ${version}` };
  }
  return {
    level: "broken",
    check: "node-version",
    message: `this is Node ${version}, and Plugboard needs ${needed} or newer`,
    remedy: "install a newer Node from https://nodejs.org, or with your version manager",
  };
}

function goneDirectory(): Finding {
  return {
    level: "broken",
    check: "working-directory",
    message:
      "the working directory does not exist any more; what follows is as in your home directory",
    remedy: "change to a directory that exists, and try again",
  };
}

export function pathFindings(env: CliIo["env"], platform: NodeJS.Platform): Finding[] {
  if (!(env["PATH"] ?? env["Path"])) {
    return [
      {
        level: "broken",
        check: "path",
        message: "PATH is not set, so no server's command can be found by its name",
        remedy: "set PATH, or write the full path of each command into the configuration",
      },
    ];
  }
  if (isOnPath("npx", env, platform)) {
    return [{ level: "ok", check: "npm", message: "npx is on PATH" }];
  }
  return [
    {
      level: "warning",
      check: "npm",
      message: "npx is not on PATH, so servers that are packages of npm cannot be started with it",
      remedy: "install npm, which comes with Node from https://nodejs.org, and put it on PATH",
    },
  ];
}

/** What starts most servers. */
const STARTERS = ["node", "npx", "uvx", "uv", "docker", "python3"];

/** `env` is that of the terminal. */
export function editorFindings(env: CliIo["env"], editor: EditorPath): Finding[] {
  const { withShell, shell, problem } = editor;
  if (problem !== undefined) {
    return [
      {
        level: "warning",
        check: "editor-path",
        message: `${problem}; in an application that is started from the desktop, your servers have only the PATH of the desktop`,
        remedy: `find out what keeps the start files of ${shell} from coming to an end, or write the full path of each command into the configuration`,
      },
    ];
  }
  const has = (PATH: string, name: string): boolean => isOnPath(name, { PATH }, process.platform);
  const here = STARTERS.filter((name) => isOnPath(name, env, process.platform));
  const missing = here.filter((name) => !has(withShell, name));
  if (missing.length > 0 && shell !== undefined) {
    const [them, they] = missing.length === 1 ? ["it", "it is"] : ["them", "they are"];
    return [
      {
        level: "warning",
        check: "editor-path",
        message: `an editor that you start from the desktop does not find ${inWords(missing)}: ${they} on the PATH of this terminal, and ${shell} does not have ${them} there`,
        remedy: `put the directory on PATH in a start file of your login shell, such as ~/.profile or ~/.zprofile, or write the full path of the command into the configuration`,
      },
    ];
  }
  return [
    {
      level: "ok",
      check: "editor-path",
      message: "servers find the same programs in an editor as in this terminal",
    },
  ];
}
