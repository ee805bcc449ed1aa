// The packages that speak to the engines: they are optional, and loaded when the configuration has the engine.

import { isIP } from "node:net";
import { PlugboardError } from "../../types/errors.ts";
import type { TlsFiles } from "../../types/server-config.ts";
import { errorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { readRegularFile } from "../../../util/regular-file.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { installHint, loadOptional, type OptionalPackage } from "../../../util/optional-package.ts";
import { oneLine } from "../../../util/text.ts";

export type ImportOptional = (name: string) => Promise<unknown>;

/** Rejects with CONFIG_INVALID, and says what to install. */
export async function driver(
  missing: OptionalPackage,
  importOptional: ImportOptional,
): Promise<Readonly<Record<string, unknown>>> {
  const loaded = await loadOptional(missing, importOptional);
  if (loaded !== undefined) return loaded;
  const message = `gateway.shared needs the package ${missing.name}, which is not installed`;
  throw new PlugboardError("CONFIG_INVALID", message, { hint: installHint(missing) });
}

/** The driver's words are too little where a certificate is not trusted, or the engine has none. */
const NOT_TRUSTED =
  /^(?:UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT.*)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/;
const NO_TLS = /does not support SSL/;
/** A Valkey without TLS takes the beginning of TLS for a line without an end, and does not answer. */
const NO_ANSWER = /ETIMEDOUT/;

/** Why an engine cannot be reached, and what to change if that is its TLS. */
export function whyAway(error: unknown, engine: "postgres" | "valkey", isTls = false): string {
  const why = oneLine(errorMessage(error), 200).replace(/\.$/, "");
  const setting = `gateway.shared.${engine}.tls`;
  if (NOT_TRUSTED.test(errorCode(error) ?? ""))
    return `${why}; if it is from your own authority, name that one's file in ${setting}.ca`;
  if (NO_TLS.test(why))
    return `${why}; give it TLS, or set ${setting} to false if nobody else can listen in between`;
  if (isTls && NO_ANSWER.test(why))
    return `${why}; if it runs without TLS, give it TLS, or set ${setting} to false if nobody else can listen in between`;
  return why;
}

/** Whether what `whyAway` is about is the certificate of an engine that can be reached. */
export function isOfTls(error: unknown): boolean {
  return NOT_TRUSTED.test(errorCode(error) ?? "") || NO_TLS.test(errorMessage(error));
}

/** As Node's TLS takes them. Rejects with CONFIG_INVALID if one cannot be read. */
export async function readTlsFiles(tls: TlsFiles, host: string): Promise<object> {
  const read = async (file: string | undefined): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    return readRegularFile(file).catch((error: unknown) => {
      const message = `a file of gateway.shared cannot be read: ${reasonOf(error)}`;
      throw new PlugboardError("CONFIG_INVALID", message, { cause: error });
    });
  };
  const [ca, cert, key] = await Promise.all([read(tls.ca), read(tls.cert), read(tls.key)]);
  // The certificate is checked against either; an address must not be sent as a name.
  return { ...(isIP(host) === 0 ? { servername: host } : { host }), ca, cert, key };
}
