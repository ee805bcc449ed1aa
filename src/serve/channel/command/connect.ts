// Connects a command to the channel of a running gateway. Imports little, like the link.

import { connect, type Socket } from "node:net";
import { cancelled, PlugboardError } from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../../core/types/json.ts";
import type { Clock } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { readFirstLine } from "../../../util/first-line.ts";
import { isSameSecret } from "../../../util/same-secret.ts";
import { CHANNEL_VERSION, type CommandInfo, newNonce, proofOf } from "../greeting.ts";
import { Link } from "../link.ts";

export type { CommandInfo } from "../greeting.ts";

/** Where a gateway listens, and the key that proves who is allowed to use it. From the gateway's note. */
export interface ChannelAddress {
  path: string;
  key: string;
}

export interface ConnectOptions {
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** A gateway on the same machine answers within milliseconds, unless it hangs. */
const ANSWER_WITHIN_MS = 2000;
const MAX_GREETING_BYTES = 4096;

/** Rejects with SERVER_UNAVAILABLE if no gateway answers there or it does not know the key, and with CANCELLED. */
export function connectChannel(
  { path, key }: ChannelAddress,
  command: CommandInfo,
  { clock, signal }: ConnectOptions,
): Promise<Link> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(cancelled());
    const socket = connect(path);
    const nonce = newNonce();
    const onError = (error: unknown): void => fail(unreachable(path, error));
    const onAbort = (): void => fail(cancelled());
    const timer = clock.after(ANSWER_WITHIN_MS, () =>
      fail(
        unavailable(`the gateway at ${path} did not answer within ${ANSWER_WITHIN_MS / 1000} s`),
      ),
    );
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
    readAnswer(socket, (greeting) => {
      const theirs = greeting?.nonce;
      if (greeting === undefined || typeof theirs !== "string") return fail(noGateway(path));
      if (greeting.channel !== CHANNEL_VERSION) return fail(otherVersion());
      const nonces = [theirs, nonce];
      const hello = { ...command, nonce, proof: proofOf("command", key, nonces) };
      socket.write(`${JSON.stringify(hello)}\n`);
      readAnswer(socket, (welcome, rest) => {
        if (welcome === undefined) return fail(refused());
        if (!isSameSecret(welcome.proof, proofOf("gateway", key, nonces))) return fail(refused());
        release();
        resolve(new Link(socket, { peer: "the gateway", rest }));
      });
    });
  });
}

function readAnswer(
  socket: Socket,
  onAnswer: (answer: JsonObject | undefined, rest: Buffer) => void,
): void {
  readFirstLine(socket, MAX_GREETING_BYTES, (line, rest) => {
    const answer = line === undefined ? undefined : tryParseJson(line);
    onAnswer(isJsonObject(answer) ? answer : undefined, rest);
  });
}

function unreachable(path: string, error: unknown): PlugboardError {
  const isGone = hasErrorCode(error, "ENOENT", "ECONNREFUSED");
  if (isGone) return unavailable(`no gateway listens at ${path}`);
  return unavailable(`the gateway at ${path} cannot be reached: ${errorMessage(error)}`);
}

function noGateway(path: string): PlugboardError {
  return unavailable(`what listens at ${path} is not a gateway, or it has no room`);
}

function otherVersion(): PlugboardError {
  return unavailable("the gateway is of another version of Plugboard", {
    hint: "restart the gateway",
  });
}

function refused(): PlugboardError {
  return unavailable("the gateway does not know the key of this command", {
    hint: "it may have been restarted just now: try again",
  });
}

function unavailable(message: string, details: { hint?: string } = {}): PlugboardError {
  const told = { ...details, hasNotRun: true, quote: "" };
  return new PlugboardError("SERVER_UNAVAILABLE", message, told);
}
