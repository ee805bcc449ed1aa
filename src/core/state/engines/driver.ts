// The packages that speak to the engines: they are optional, and loaded when the configuration has the engine.

import { readFile } from "node:fs/promises";
import { PlugboardError } from "../../types/errors.ts";
import type { TlsFiles } from "../../types/server-config.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { installHint, loadOptional, type OptionalPackage } from "../../../util/optional-package.ts";

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

/** As Node's TLS takes them. Rejects with CONFIG_INVALID if one cannot be read. */
export async function readTlsFiles(tls: TlsFiles, host: string): Promise<object> {
  const read = async (file: string | undefined): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    return readFile(file, "utf8").catch((error: unknown) => {
      const message = `a file of gateway.shared cannot be read: ${errorMessage(error)}`;
      throw new PlugboardError("CONFIG_INVALID", message, { cause: error });
    });
  };
  const [ca, cert, key] = await Promise.all([read(tls.ca), read(tls.cert), read(tls.key)]);
  return { servername: host, ca, cert, key };
}
