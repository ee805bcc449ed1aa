// Reads a response's body: decodes it, limits its size, and ends with its exchange.

import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { PlugboardError } from "../types/errors.ts";
import { HeldBytes } from "../../util/held-bytes.ts";
import { byteSize } from "../../util/text.ts";
import type { Exchange } from "./exchange.ts";
import { networkFailure } from "./failure.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** No server needs more layers, and each multiplies the size of a decompression bomb. */
const MAX_LAYERS = 2;

export interface BodyOptions {
  host: string;
  /** The `content-encoding` header. */
  encoding: string | undefined;
  /** Counts decoded bytes. */
  maxBytes: number;
  exchange: Exchange;
}

/** A limit of whoever reads, below that of the request. */
export interface BodyBound {
  maxBytes: number;
  error: () => PlugboardError;
}

interface Body {
  pieces: AsyncGenerator<Buffer, void>;
  text: (bound?: BodyBound) => Promise<string>;
}

const UTF8 = new TextDecoder();
/** A stream that was closed before its end, as Node itself names that. */
const CUT = { code: "ERR_STREAM_PREMATURE_CLOSE" };

/** Throws PROTOCOL for an encoding that cannot be decoded. The body can be read once, in one of the two ways. */
export function openBody(source: Readable, options: BodyOptions): Body {
  const stream = decoded(source, options);
  return {
    pieces: readPieces(source, stream, options),
    text: (bound) => readText(source, stream, options, bound),
  };
}

async function* readPieces(
  source: Readable,
  stream: Readable,
  { host, maxBytes, exchange }: BodyOptions,
): AsyncGenerator<Buffer, void> {
  let total = 0;
  try {
    if (exchange.failure !== undefined) throw exchange.failure;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      total += chunk.length;
      if (total > maxBytes) {
        exchange.fail(tooLarge(host, maxBytes));
        break;
      }
      yield chunk;
    }
    // An abort may end the stream without an error.
    if (exchange.failure !== undefined) throw exchange.failure;
  } catch (error) {
    throw exchange.failure ?? networkFailure(error, host);
  } finally {
    exchange.end();
    stream.destroy();
    source.destroy();
  }
}

/** By events: reading a short answer piece by piece costs several times as much. */
function readText(
  source: Readable,
  stream: Readable,
  { host, maxBytes, exchange }: BodyOptions,
  bound?: BodyBound,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const held = new HeldBytes();
    let isOver = false;
    const end = (): void => {
      isOver = true;
      exchange.end();
      stream.destroy();
      source.destroy();
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      end();
      reject(exchange.failure ?? networkFailure(error, host));
    };
    if (exchange.failure !== undefined || stream.destroyed) return fail(stream.errored ?? CUT);
    stream.on("data", (chunk: Buffer) => {
      held.push(chunk);
      const isPastBound = bound !== undefined && held.length > bound.maxBytes;
      if (!isPastBound && held.length <= maxBytes) return;
      exchange.fail(isPastBound ? bound.error() : tooLarge(host, maxBytes));
      fail(exchange.failure);
    });
    stream.on("error", fail);
    // After an abort or a lost connection, this can come without an error.
    stream.on("close", () => fail(CUT));
    stream.on("end", () => {
      if (exchange.failure !== undefined) return fail(exchange.failure);
      end();
      resolve(UTF8.decode(held.takeBytes()));
    });
  });
}

function tooLarge(host: string, maxBytes: number): PlugboardError {
  return new PlugboardError(
    "MESSAGE_TOO_LARGE",
    `the response of ${host} is larger than ${byteSize(maxBytes)}`,
    {
      hint: 'raise "maxMessageBytes" for this server if that is expected',
      isHintForServer: true,
    },
  );
}

function decoded(source: Readable, { host, encoding = "" }: BodyOptions): Readable {
  const layers = encoding
    .toLowerCase()
    .split(",")
    .map((layer) => layer.trim())
    .filter((layer) => layer !== "" && layer !== "identity");
  const decoders = layers.map((layer) => DECODERS[layer]);
  if (layers.length > MAX_LAYERS || decoders.includes(undefined)) {
    throw new PlugboardError("PROTOCOL", `${host} answers in an encoding that was not asked for`);
  }
  // An error before anyone reads must not end the process; the reader gets it later.
  source.on("error", ignore);
  return decoders.reduceRight<Readable>(
    (stream, decoder) => (decoder === undefined ? stream : pipeline(stream, decoder(), ignore)),
    source,
  );
}

function ignore(): void {}
