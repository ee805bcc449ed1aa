// Stands between an ACP client and another ACP agent: passes everything on, and gives the agent the servers of the
// client and of the operator as one. Read relay.ts next.

import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { DEFAULT_MAX_MESSAGE_BYTES } from "@agentclientprotocol/sdk";
import { aborted } from "../../util/abort.ts";
import { LineWriter, readLines } from "./lines.ts";
import { OwnIds } from "./message.ts";
import { Relay, type RelayOptions } from "./relay.ts";

export interface FrontOptions extends Omit<RelayOptions, "writer" | "ids"> {
  input: Readable;
  /** The way to the client. */
  write: Writable["write"];
  /** Aborting it ends the front. */
  signal: AbortSignal;
  /** The agent cannot be started: called before anything of the client is read. */
  onRefusal: (error: unknown) => Promise<void>;
}

/** Resolves when the client is gone or the signal aborts, and nothing is left. Rejects if the agent cannot be started. */
export async function runFront(options: FrontOptions): Promise<void> {
  const { input, write, signal, onRefusal, ...rest } = options;
  const gone = new AbortController();
  const over = AbortSignal.any([gone.signal, signal]);
  const writer = new LineWriter(write, () => gone.abort());
  const newIds = (): OwnIds => new OwnIds(randomBytes(12).toString("hex"));
  const relay = new Relay({ ...rest, writer, ids: { client: newIds(), agent: newIds() } });
  try {
    try {
      await relay.launch();
    } catch (error) {
      await onRefusal(error);
      throw error;
    }
    const read = readLines(input, DEFAULT_MAX_MESSAGE_BYTES, (line) => relay.fromClient(line));
    await Promise.race([read, aborted(over)]);
  } finally {
    await relay.close();
  }
}
