// The certificate that the gateway shows: read from the files that the configuration names, and again when they change.

import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { readRegularFile } from "../../../util/regular-file.ts";

/** How often the files are looked at. */
const LOOK_MS = 10_000;

export interface TlsMaterial {
  /** PEM text: the certificate, and after it those that lead to its authority. */
  cert: string;
  key: string;
  /** When it ends, in milliseconds since the epoch. */
  endsAt: number;
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
  const endsAt = Date.parse(certificate.validTo);
  return { cert, key, endsAt, ...validity(certificate, files.cert, clock.now()) };
}

export interface CertificateWatchOptions {
  files: NonNullable<GatewaySettings["tls"]>;
  /** What is used when it begins. */
  used: TlsMaterial;
  /** Uses another one from now on. */
  onRenewed: (material: TlsMaterial) => void;
  clock: Clock;
  logger: Logger;
}

/** Looks whether the files have another certificate, as after a renewal. What cannot be used is said once, and nothing changes. */
export class CertificateWatch {
  readonly #options: CertificateWatchOptions;
  #used: TlsMaterial;
  #failed: { why: string; times: number } | undefined;
  #timer: Timer | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: CertificateWatchOptions) {
    this.#options = options;
    this.#used = options.used;
    this.#lookLater();
  }

  get endsAt(): number {
    return this.#used.endsAt;
  }

  /** Resolves when the last look is over. */
  get looked(): Promise<void> {
    return this.#looking;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#looking;
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.later(LOOK_MS, () => {
      this.#looking = this.#look().finally(() => {
        if (this.#timer !== undefined) this.#lookLater();
      });
    });
  }

  /** Never rejects. Both files are seldom written at once, so that a pair that does not fit is looked at again before it is said. */
  async #look(): Promise<void> {
    const { files, onRenewed, clock, logger } = this.#options;
    try {
      const found = await readTls(files, clock);
      this.#failed = undefined;
      if (found.cert === this.#used.cert && found.key === this.#used.key) return;
      onRenewed(found);
      this.#used = found;
      const until = new Date(found.endsAt).toISOString().slice(0, 10);
      logger.info(`the certificate ${files.cert} was renewed, and is used for new connections`, {
        until,
      });
      if (found.warning !== undefined) logger.warn(found.warning);
    } catch (error) {
      const why = errorMessage(error);
      if (this.#failed?.why !== why) this.#failed = { why, times: 0 };
      this.#failed.times += 1;
      if (this.#failed.times !== 2) return;
      logger.warn(`the gateway goes on with the certificate that it has: ${why}`);
    }
  }
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
