// The certificate that the gateway shows, read from the files that the configuration names.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import type { Clock } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { readRegularFile } from "../../../util/regular-file.ts";

export interface TlsMaterial {
  /** PEM text: the certificate, and after it those that lead to its authority. */
  cert: string;
  key: string;
  /** Says that the certificate is not valid now. Clients will refuse it, but the clock may be wrong. */
  warning?: string;
}

/** Rejects with CONFIG_INVALID if the files cannot be read or do not belong together. */
export async function readTls(
  files: NonNullable<GatewaySettings["tls"]>,
  clock: Pick<Clock, "now">,
): Promise<TlsMaterial> {
  const [cert, key] = await Promise.all([read(files.cert, "cert"), read(files.key, "key")]);
  const certificate = attempt(
    () => new X509Certificate(cert),
    `gateway.tls.cert: ${files.cert} is not a certificate`,
    "it must be a PEM file that begins with -----BEGIN CERTIFICATE-----",
  );
  const privateKey = attempt(
    () => createPrivateKey(key),
    `gateway.tls.key: ${files.key} is not a private key`,
    "it must be a PEM file without a passphrase, such as -----BEGIN PRIVATE KEY-----",
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw invalid(
      `gateway.tls: ${files.key} is not the key of the certificate ${files.cert}`,
      "use the key that the certificate was made for",
    );
  }
  attempt(
    () => createSecureContext({ cert, key }),
    `gateway.tls: ${files.cert} and ${files.key} cannot be used`,
    "the certificates after the first one may be damaged, or the key too short",
  );
  return { cert, key, ...validity(certificate, files.cert, clock.now()) };
}

async function read(file: string, setting: string): Promise<string> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    const why = hasErrorCode(error, "ENOENT")
      ? "does not exist"
      : hasErrorCode(error, "EACCES")
        ? "may not be read by this user"
        : hasErrorCode(error, "ENOTREGULAR")
          ? "is not a file"
          : "cannot be read";
    throw invalid(
      `gateway.tls.${setting}: ${file} ${why}`,
      "check the path and the file's mode",
      error,
    );
  }
}

function validity(
  { validFrom, validTo }: X509Certificate,
  file: string,
  now: number,
): Pick<TlsMaterial, "warning"> {
  if (Date.parse(validTo) <= now) {
    return {
      warning: `the certificate ${file} has expired (${validTo}), and clients will refuse it`,
    };
  }
  if (Date.parse(validFrom) > now) {
    return { warning: `the certificate ${file} is not valid before ${validFrom}` };
  }
  return {};
}

function attempt<Result>(make: () => Result, message: string, hint: string): Result {
  try {
    return make();
  } catch (error) {
    throw invalid(message, hint, error);
  }
}

function invalid(message: string, hint: string, cause?: unknown): PlugboardError {
  return new PlugboardError("CONFIG_INVALID", message, { hint, cause, permanent: true });
}
