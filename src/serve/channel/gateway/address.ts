// Where a gateway listens for attached commands: a socket that only its owner can open, or a named pipe, and a fresh key.

import { randomBytes } from "node:crypto";
import { privateSocketPath, type SocketPlace } from "../../../core/net/private-socket.ts";
import type { ChannelAddress } from "../command/connect.ts";

/** A socket of the same place keeps its path. */
export function newChannelAddress(place: SocketPlace): ChannelAddress {
  return { path: privateSocketPath(place), key: randomBytes(32).toString("base64url") };
}
