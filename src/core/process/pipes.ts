// Reads and writes a child's pipes without what Node's streams do for each chunk: a new buffer of 64 KB for a read, and
// a request, a callback and a tick for a write. With short messages, that is a noticeable part of a call.

import { writeSync } from "node:fs";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";
import type { Readable, Writable } from "node:stream";

/** Node's own name for the pipe behind a stream, if there is one. The types of Node do not have it. */
interface HasHandle {
  _handle?: { fd?: number } | null;
}

interface SocketOptions extends SocketConstructorOpts {
  handle: object;
  onread: OnReadOpts;
}

/** The number of a pipe for which Node gives none. */
const NONE = -1;

/** Each chunk is used up before the next read, so one buffer does for all pipes. */
const BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * A stream with the data of this one, which must not have been read from. Chunks that its "data" listeners get are
 * borrowed: they are overwritten when the listeners return. Whoever reads it in another way, such as with `for await`,
 * gets copies. Returns the stream itself where Node has no handle for us to take over, and on Windows, which may read
 * from several pipes at the same time.
 */
export function withBorrowedReads(
  pipe: Readable & HasHandle,
  platform: NodeJS.Platform = process.platform,
): Readable {
  const handle = pipe._handle;
  if (platform === "win32" || !handle) return pipe;
  const pass = (length: number): boolean => {
    const chunk = BUFFER.subarray(0, length);
    const isHeard = socket.listenerCount("data") > 0 && socket.readableLength === 0;
    if (isHeard) return socket.emit("data", chunk);
    // Nobody takes it now, or earlier data goes first: the stream keeps it.
    return socket.push(Buffer.from(chunk));
  };
  const options: SocketOptions = {
    handle,
    readable: true,
    writable: false,
    onread: { buffer: BUFFER, callback: pass },
  };
  const socket: Socket & HasHandle = new Socket(options);
  if (socket._handle !== handle) return pipe;
  pipe._handle = null;
  // The child counts as closed when the streams that it was started with are.
  socket.once("close", () => pipe.destroy());
  return socket;
}

/** In characters. The pipes of some systems take no more than 8 KB at once, so the stream would have to write the rest. */
const LONGEST_AT_ONCE = 8 * 1024;
/** Holds such a text as bytes: UTF-8 takes at most three for each UTF-16 unit. */
const OUT = Buffer.allocUnsafeSlow(3 * LONGEST_AT_ONCE);

/** Writes short texts to a pipe without its stream. */
export class PipeWriter {
  readonly #stream: Writable;
  /** The number of the pipe, as long as the stream is writable. Later it may be the number of another file. */
  readonly #fd: number;

  constructor(stream: Writable & HasHandle) {
    this.#stream = stream;
    this.#fd = stream._handle?.fd ?? NONE;
  }

  /**
   * Writes what the pipe takes at once. Returns what is left for the stream to write: all of it if others wait already,
   * if the pipe is full or broken, or if there is no pipe.
   */
  write(text: string): string | Buffer {
    const { writable, writableLength } = this.#stream;
    const isDirect = this.#fd > NONE && writable && writableLength === 0;
    if (!isDirect || text.length > LONGEST_AT_ONCE) return text;
    const length = OUT.write(text);
    let written: number;
    try {
      written = writeSync(this.#fd, OUT, 0, length);
    } catch {
      // The stream waits, or says what is wrong.
      return text;
    }
    return written === length ? "" : Buffer.from(OUT.subarray(written, length));
  }
}
