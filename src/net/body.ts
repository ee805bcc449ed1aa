// A response's body: decoded, counted as it comes, and ended with its exchange.

import { pipeline } from "node:stream";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { PlugboardError } from "../model/errors.ts";
import { byteSize } from "../util/text.ts";
import type { Exchange } from "./exchange.ts";
import { networkFailure } from "./failure.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Nobody needs more layers than this, and each multiplies what a bomb can do. */
const MOST_LAYERS = 2;

export interface BodyOptions {
  host: string;
  /** The `content-encoding` header. */
  encoding: string | undefined;
  /** Of decoded bytes. */
  maxBytes: number;
  exchange: Exchange;
}

/** Throws PROTOCOL for an encoding that cannot be decoded. The result can be read once. */
export function readBody(source: Readable, options: BodyOptions): AsyncGenerator<Buffer, void> {
  return counted(source, decoded(source, options), options);
}

async function* counted(
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
        exchange.fail(
          new PlugboardError(
            "MESSAGE_TOO_LARGE",
            `the answer of ${host} is larger than ${byteSize(maxBytes)}`,
            { hint: 'Raise "maxMessageBytes" for this server if that is expected.' },
          ),
        );
        break;
      }
      yield chunk;
    }
    // An abort may have ended the stream without an error of its own.
    if (exchange.failure !== undefined) throw exchange.failure;
  } catch (error) {
    throw exchange.failure ?? networkFailure(error, host);
  } finally {
    exchange.end();
    stream.destroy();
    source.destroy();
  }
}

function decoded(source: Readable, { host, encoding = "" }: BodyOptions): Readable {
  const layers = encoding
    .toLowerCase()
    .split(",")
    .map((layer) => layer.trim())
    .filter((layer) => layer !== "" && layer !== "identity");
  const decoders = layers.map((layer) => DECODERS[layer]);
  if (layers.length > MOST_LAYERS || decoders.includes(undefined)) {
    throw new PlugboardError("PROTOCOL", `${host} answers in an encoding nobody asked for`);
  }
  // An error that comes while nobody reads must not end the process; the reader gets it later.
  source.on("error", ignore);
  return decoders.reduceRight<Readable>(
    (stream, decoder) => (decoder === undefined ? stream : pipeline(stream, decoder(), ignore)),
    source,
  );
}

function ignore(): void {}
