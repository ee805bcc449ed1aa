// How a gateway and a command recognise each other before anything else is sent: both prove that they know the key in
// the gateway's record, and neither sends it. Imports little, like the link.

import { createHmac, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Strangers } from "../../core/net/strangers.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import { type JsonObject, objectIn, tryParseJson } from "../../core/types/json.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Clock, within } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readFirstLine } from "../../util/first-line.ts";
import { isSameSecret } from "../../util/same-secret.ts";
import { Link } from "./link.ts";

/** The version of what is said on a channel. */
const CHANNEL_VERSION = 3;
/** A gateway on the same machine answers within milliseconds, unless it hangs. */
const ANSWER_WITHIN_MS = 2000;
const MAX_GREETING_BYTES = 4096;

/** Where a gateway listens, and the key that proves who is allowed to use it. From the gateway's record. */
export interface ChannelAddress {
  path: string;
  key: string;
}

/** Which command uses the channel, for people. */
export interface CommandInfo {
  /** The command: `call`, `acp`, `serve`. */
  command: string;
  pid: number;
  cwd: string;
}

/** The command's side. Rejects with SERVER_UNAVAILABLE if no gateway answers there or it does not know the key, and with CANCELLED. */
export async function connectChannel(
  address: ChannelAddress,
  command: CommandInfo,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<Link> {
  const { path } = address;
  const socket = connect(path);
  try {
    const greeted = untilAborted(introduce(socket, address, command), signal, cancelled);
    if (
      !(await within(
        clock,
        ANSWER_WITHIN_MS,
        greeted.then(() => true),
      ))
    ) {
      const seconds = ANSWER_WITHIN_MS / 1000;
      throw unavailable(`the gateway at ${path} did not answer within ${seconds} s`);
    }
    return new Link(socket, { peer: "the gateway", clock });
  } catch (error) {
    socket.destroy();
    throw error instanceof PlugboardError ? error : unreachable(path, error);
  }
}

/** Resolves when both sides have proved that they know the key. */
async function introduce(
  socket: Socket,
  { path, key }: ChannelAddress,
  command: CommandInfo,
): Promise<void> {
  const { channel, nonce: theirs } = await answerOn(socket);
  if (typeof theirs !== "string") {
    throw unavailable(`what listens at ${path} is not a gateway, or it has no room`);
  }
  if (channel !== CHANNEL_VERSION) {
    throw unavailable("the gateway is of another version of Plugboard", "restart the gateway");
  }
  const nonce = newNonce();
  say(socket, { ...command, nonce, proof: proofOf("command", key, [theirs, nonce]) });
  const { proof } = await answerOn(socket);
  if (isSameSecret(proof, proofOf("gateway", key, [theirs, nonce]))) return;
  const hint = "it may have been restarted just now: try again";
  throw unavailable("the gateway does not know the key of this command", hint);
}

/** The gateway's side. Says what the command has said of itself, or undefined if it does not know the key. */
export function greet(
  socket: Socket,
  key: string,
  strangers: Pick<Strangers, "hear">,
  onHello: (hello: JsonObject | undefined) => void,
): void {
  const nonce = newNonce();
  strangers.hear(socket, (hello) => {
    const { nonce: theirs, proof } = hello;
    if (typeof theirs !== "string") return void socket.destroy();
    if (!isSameSecret(proof, proofOf("command", key, [nonce, theirs]))) {
      socket.destroy();
      return onHello(undefined);
    }
    say(socket, { proof: proofOf("gateway", key, [nonce, theirs]) });
    onHello(hello);
  });
  if (!socket.destroyed) say(socket, { channel: CHANNEL_VERSION, nonce });
}

function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

/** Each side proves it in another way, so that nobody can send back the proof that they were sent. */
export function proofOf(side: "command" | "gateway", key: string, nonces: string[]): string {
  const text = JSON.stringify([side, ...nonces]);
  return createHmac("sha256", key).update(text).digest("base64url");
}

function say(socket: Socket, value: object): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

/** An empty object for anything that is not a JSON object. */
function answerOn(socket: Socket): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    readFirstLine(socket, MAX_GREETING_BYTES, (line) => {
      const answer = line === undefined ? undefined : tryParseJson(line);
      resolve(objectIn(answer));
    });
  });
}

function unreachable(path: string, error: unknown): PlugboardError {
  const isGone = hasErrorCode(error, "ENOENT", "ECONNREFUSED");
  if (isGone) return unavailable(`no gateway listens at ${path}`);
  return unavailable(`the gateway at ${path} cannot be reached: ${errorMessage(error)}`);
}

function unavailable(message: string, hint?: string): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hint, hasNotRun: true, quote: "" });
}
