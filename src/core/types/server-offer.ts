// A server that somebody publishes, in the MCP registry or as a bundle: what a person has to give and to know before it
// becomes an entry of the configuration, and where such an entry came from.

import type { ServerConfig } from "./server-config.ts";

type InputFormat = "string" | "number" | "boolean" | "file" | "directory";

/** A value that a person gives before a server can be added. */
export interface OfferInput {
  /** What `--set` takes: the name of the variable, the header or the argument. */
  key: string;
  description?: string;
  isRequired: boolean;
  /** Never written: the entry refers to where the value is kept, or to a variable of the environment. */
  isSecret: boolean;
  /** Of a secret input: that variable, unless a person names another reference. Default: `variableOf(key)`. */
  variable?: string;
  format: InputFormat;
  default?: string;
  placeholder?: string;
  choices?: string[];
  /** May be given several times. */
  isMultiple?: true;
  min?: number;
  max?: number;
}

/** By the key of the input; a list has more than one value only where the input `isMultiple`. */
export type InputValues = ReadonlyMap<string, readonly string[]>;

export interface ServerOffer {
  /** The suggested name of the server; fit to be a key of the configuration. */
  name: string;
  title?: string;
  description?: string;
  version: string;
  /** What a person should read before: that it is deprecated, that a signature was not verified. */
  notes: string[];
  inputs: OfferInput[];
  /** Written into the server's entry. */
  provenance: Provenance;
  /**
   * The entry with the values filled in. A secret is never in `values`: what is there for a secret input is a reference,
   * such as `${API_KEY}`. What a person gave may have references too, and is written as it is; what the publisher
   * wrote must not, and is escaped.
   */
  build: (values: InputValues) => ServerConfig;
}

/** What was given for each input, so that an update need not ask again. No secret is in it. */
type GivenInputs = Record<string, string[]>;

/**
 * Where an entry came from: `provenance` of a server in the file. An update takes what the registry has under its name, so
 * that is part of what is trusted.
 */
export type Provenance =
  | {
      kind: "registry";
      /** The address of the registry. */
      registry: string;
      /** The server's name there. */
      name: string;
      version: string;
      /** Of the canonical JSON of its server.json: `sha256-<hex>`. */
      hash: string;
      /** Which of the ways to run it was chosen: `remote`, or the type of the package. */
      way?: string;
      inputs?: GivenInputs;
    }
  | {
      kind: "bundle";
      /** The path or the URL of the file. */
      source: string;
      /** The name in its manifest. */
      name: string;
      version: string;
      /** Of the file: `sha256-<hex>`. */
      hash: string;
      inputs?: GivenInputs;
    };

/** The variable of the environment that a secret input is read from: `api-key` is `API_KEY`, or `DOCS_API_KEY`. */
export function variableOf(key: string, server = ""): string {
  const name = `${server}_${key}`
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `VALUE_${name}`;
}
