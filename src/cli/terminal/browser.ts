// Opens a page in the person's browser. Never through a shell: the address comes from a server.

import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import type { Environment } from "../../util/environment.ts";

/** The program and its arguments; undefined where no browser is available. */
export function browserCommand(
  url: string,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): [string, ...string[]] | undefined {
  const { protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return undefined;
  return commandFor(url, env, platform);
}

function commandFor(
  url: string,
  env: Environment,
  platform: NodeJS.Platform,
): [string, ...string[]] | undefined {
  if (env["BROWSER"]) return [env["BROWSER"], url];
  if (platform === "darwin") return ["open", url];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", url];
  // Without a display xdg-open would start a browser in the terminal, or fail.
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open", url] : undefined;
}

/** Resolves to whether the program started, without waiting for it to end. */
export function openBrowser(url: string, env: Environment): Promise<boolean> {
  return start(browserCommand(url, env), env);
}

/** Opens a file that we have written ourselves. */
export function openFileInBrowser(path: string, env: Environment): Promise<boolean> {
  return start(commandFor(pathToFileURL(path).href, env, process.platform), env);
}

function start(command: [string, ...string[]] | undefined, env: Environment): Promise<boolean> {
  if (command === undefined) return Promise.resolve(false);
  const [program, ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "ignore", detached: true, env: { ...env } });
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
    child.unref();
  });
}
