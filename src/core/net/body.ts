// Reads a response's body: decodes it, limits its size, and ends with its exchange.

import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { PlugboardError } from "../types/errors.ts";
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

/** Throws PROTOCOL for an encoding that cannot be decoded. The body can be read once. */
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
            `the response of ${host} is larger than ${byteSize(maxBytes)}`,
            {
              hint: 'raise "maxMessageBytes" for this server if that is expected',
              isHintForServer: true,
            },
          ),
        );
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
