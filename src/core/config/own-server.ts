// Recognises Plugboard itself among servers. A board that is one of its own servers would start itself without end.

import { fileURLToPath } from "node:url";
import { DEFAULT_PORT } from "../types/gateway-settings.ts";
import { textsIn } from "../types/json.ts";

/** The command as npm installs it, and the file behind it. */
const NAMES = /^(?:plugboard(?:\.(?:cmd|exe|ps1))?|plugboard@[\w.^~-]+)$/i;
const BIN = /(?:^|[/\\])plugboard[/\\]dist[/\\]bin\.cjs$/i;

/** The file of the command; the compiled one, also when this module runs from its source. */
export function ownBin(): string {
  const here = import.meta.url;
  // A program that has bundled this module has no such file.
  if (!URL.canParse(here)) return "plugboard";
  return fileURLToPath(
    new URL(here.endsWith(".ts") ? "../../../dist/bin.cjs" : "../../bin.cjs", here),
  );
}

/** A command line that is longer is a script. */
const MOST_WORDS = 100;

/** Whether a server is a board on this machine. Its keys may be anything that somebody wrote into a file. */
export function isBoard(
  { command, args, url }: { command?: unknown; args?: unknown; url?: unknown },
  { ports, name }: { ports?: readonly number[]; name?: string } = {},
): boolean {
  return isOwnServer(command, args) || isOwnGateway(url, ports, name);
}

/** Whether a command line starts a board. */
export function isOwnServer(command: unknown, args: unknown): boolean {
  if (typeof command !== "string") return false;
  // A shell takes a whole command line as one word.
  const words = [command, ...textsIn(args)].flatMap((word) => [
    word,
    ...word.split(/\s+/).slice(0, MOST_WORDS),
  ]);
  const own = ownBin();
  const at = words.findIndex(
    (word) => word === own || BIN.test(word) || NAMES.test(lastPart(word)),
  );
  const after = at === -1 ? [] : words.slice(at + 1);
  // `serve --session` passes on the board of a session that a front has, and starts none.
  return !after.includes("--session") && after.some((word) => word === "serve" || word === "acp");
}

/**
 * Whether a URL is that of a gateway on this machine: at the port that it has by default, or at one of these, or under our
 * own name. A slot of OpenClaw is the board of a session.
 */
function isOwnGateway(url: unknown, ports: readonly number[] = [], name?: string): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  if (!/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return false;
  const port = portOf(url);
  // Something else may listen at the port that a gateway has by default.
  const isPath = /^\/(?:agents\/[^/]+\/)?mcp\/?$/.test(pathname);
  const isSlot = /^\/mcp\/plugboard-\d+$/.test(pathname);
  return (
    isSlot || (isPath && (port === DEFAULT_PORT || name === "plugboard")) || ports.includes(port)
  );
}

/** Also where it is not written. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === "https:" ? 443 : 80));
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
