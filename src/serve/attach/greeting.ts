// How a gateway and a command recognise each other before anything else is sent: both prove that they know the key in
// the gateway's note, and neither sends it. Imports little, like the link.

import { createHmac, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { Strangers } from "../../core/net/strangers.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Clock } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readFirstLine } from "../../util/first-line.ts";
import { isSameSecret } from "../../util/same-secret.ts";
import { Link } from "./link.ts";

/** The version of what is said on a channel. */
const CHANNEL_VERSION = 2;
/** A gateway on the same machine answers within milliseconds, unless it hangs. */
const ANSWER_WITHIN_MS = 2000;
const MAX_GREETING_BYTES = 4096;

/** Where a gateway listens, and the key that proves who is allowed to use it. From the gateway's note. */
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
export function connectChannel(
  { path, key }: ChannelAddress,
  command: CommandInfo,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<Link> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cancelled());
    const socket = connect(path);
    const onError = (error: unknown): void => fail(unreachable(path, error));
    const onAbort = (): void => fail(cancelled());
    const late = `the gateway at ${path} did not answer within ${ANSWER_WITHIN_MS / 1000} s`;
    const timer = clock.after(ANSWER_WITHIN_MS, () => fail(unavailable(late)));
    const release = (): void => {
      timer.cancel();
      socket.off("error", onError);
      signal?.removeEventListener("abort", onAbort);
    };
    const fail = (error: PlugboardError): void => {
      release();
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    socket.on("error", onError);
    signal?.addEventListener("abort", onAbort, { once: true });
    readAnswer(socket, ({ channel, nonce: theirs }) => {
      if (typeof theirs !== "string") {
        return fail(unavailable(`what listens at ${path} is not a gateway, or it has no room`));
      }
      if (channel !== CHANNEL_VERSION) return fail(otherVersion());
      const nonce = newNonce();
      const hello = { ...command, nonce, proof: proofOf("command", key, [theirs, nonce]) };
      say(socket, hello);
      readAnswer(socket, ({ proof }, rest) => {
        if (!isSameSecret(proof, proofOf("gateway", key, [theirs, nonce]))) return fail(refused());
        release();
        resolve(new Link(socket, { peer: "the gateway", rest, clock }));
      });
    });
  });
}

/** The gateway's side. Says what the command has said of itself once it has proved that it knows the key. */
export function greet(
  socket: Socket,
  key: string,
  strangers: Pick<Strangers, "hear">,
  onProof: (hello: JsonObject, rest: Buffer) => void,
  onRefused: () => void,
): void {
  const nonce = newNonce();
  strangers.hear(socket, (hello, rest) => {
    const { nonce: theirs, proof } = hello;
    if (typeof theirs !== "string") return void socket.destroy();
    if (!isSameSecret(proof, proofOf("command", key, [nonce, theirs]))) {
      onRefused();
      return void socket.destroy();
    }
    say(socket, { proof: proofOf("gateway", key, [nonce, theirs]) });
    onProof(hello, rest);
  });
  if (!socket.destroyed) say(socket, { channel: CHANNEL_VERSION, nonce });
}

function newNonce(): string {
  return randomBytes(16).toString("base64url");
}

/** A proof of one side is none of the other, so that nobody can send back what they were sent. */
export function proofOf(side: "command" | "gateway", key: string, nonces: string[]): string {
  const text = JSON.stringify([side, ...nonces]);
  return createHmac("sha256", key).update(text).digest("base64url");
}

function say(socket: Socket, value: object): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

function readAnswer(socket: Socket, onAnswer: (answer: JsonObject, rest: Buffer) => void): void {
  readFirstLine(socket, MAX_GREETING_BYTES, (line, rest) => {
    const answer = line === undefined ? undefined : tryParseJson(line);
    onAnswer(isJsonObject(answer) ? answer : {}, rest);
  });
}

function unreachable(path: string, error: unknown): PlugboardError {
  const isGone = hasErrorCode(error, "ENOENT", "ECONNREFUSED");
  if (isGone) return unavailable(`no gateway listens at ${path}`);
  return unavailable(`the gateway at ${path} cannot be reached: ${errorMessage(error)}`);
}

function otherVersion(): PlugboardError {
  return unavailable("the gateway is of another version of Plugboard", "restart the gateway");
}

function refused(): PlugboardError {
  const hint = "it may have been restarted just now: try again";
  return unavailable("the gateway does not know the key of this command", hint);
}

function unavailable(message: string, hint?: string): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hint, hasNotRun: true, quote: "" });
}
