// A socket that only its owner on this machine can open: a Unix socket in a private directory, or a named pipe.

import { randomBytes } from "node:crypto";
import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { dirname, join } from "node:path";
import { makeDirectory } from "../../util/make-directory.ts";

/** What the systems allow for the path of a socket, less what some of them count in addition. */
const LONGEST_PATH = 100;
/** How many sockets of processes that were killed are looked for at a time. */
const MOST_LEFT_BEHIND = 100;

export interface SocketPlace {
  /** Where the socket should be. Only its owner can look into it. */
  directory: string;
  /** Names the socket among others in the directory. */
  name: string;
  platform: NodeJS.Platform;
  /** For a directory whose path is too long for a socket. */
  tmpdir: string;
  uid: number | undefined;
}

/** For a pipe, a name that nobody can have taken. A socket of the same place keeps its path. */
export function privateSocketPath({
  directory,
  name,
  platform,
  tmpdir,
  uid = 0,
}: SocketPlace): string {
  if (platform === "win32") {
    const unique = randomBytes(8).toString("hex");
    return `\\\\.\\pipe\\plugboard-${name}-${unique}`;
  }
  const path = join(directory, `${name}.sock`);
  return Buffer.byteLength(path) <= LONGEST_PATH
    ? path
    : join(tmpdir, `plugboard-${uid}`, `${name}.sock`);
}

/** Rejects with an Error if the directory is somebody else's, or somebody listens there already. */
export async function listenPrivately(server: Server, path: string): Promise<void> {
  if (!isPipe(path)) {
    await claimDirectory(dirname(path));
    await removeLeftBehind(path);
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // The directory keeps others out meanwhile.
  if (!isPipe(path)) await chmod(path, 0o600);
}

/** Removes the sockets beside this one that belong to nobody any more: their process was killed. Never rejects. */
export async function removeDeadSockets(path: string, isOurs: RegExp): Promise<void> {
  if (isPipe(path)) return;
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter((each) => isOurs.test(each)).slice(0, MOST_LEFT_BEHIND)) {
    const each = join(directory, name);
    if (each !== path) await removeLeftBehind(each).catch(() => {});
  }
}

function isPipe(path: string): boolean {
  return path.startsWith("\\\\");
}

/** Whoever can write to the directory could put a socket of their own there. */
async function claimDirectory(directory: string): Promise<void> {
  await makeDirectory(directory);
  const { uid } = await lstat(directory);
  if (uid !== (process.getuid?.() ?? uid)) throw new Error(`${directory} is somebody else's`);
  await chmod(directory, 0o700);
}

/** The socket of a process that was killed stays in its directory. One that answers is not removed. */
async function removeLeftBehind(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error("there is a file that is not a socket");
  if (await answers(path)) throw new Error("another process listens there");
  await rm(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isAnswered: boolean) => (): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once("connect", end(true));
    socket.once("error", end(false));
  });
}
