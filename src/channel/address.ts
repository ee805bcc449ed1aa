// Where a gateway listens for attached commands: a socket that only its owner can open, or a named pipe, and a fresh key.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { ChannelAddress } from "./connect.ts";

/** What the systems allow for the path of a socket, less what some of them count in addition. */
const LONGEST_PATH = 100;

export interface ChannelPlace {
  /** Where the socket should be. Only its owner can look into it. */
  directory: string;
  /** Names the socket among others in the directory. */
  name: string;
  platform: NodeJS.Platform;
  /** For a directory whose path is too long for a socket. */
  tmpdir: string;
  uid: number | undefined;
}

/** A fresh key, and for a pipe a name that nobody can have taken. A socket of the same place keeps its path. */
export function newChannelAddress({
  directory,
  name,
  platform,
  tmpdir,
  uid = 0,
}: ChannelPlace): ChannelAddress {
  const key = randomBytes(32).toString("base64url");
  if (platform === "win32") {
    const unique = randomBytes(8).toString("hex");
    return { path: `\\\\.\\pipe\\plugboard-${name}-${unique}`, key };
  }
  const path = join(directory, `${name}.sock`);
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { path, key };
  return { path: join(tmpdir, `plugboard-${uid}`, `${name}.sock`), key };
}
