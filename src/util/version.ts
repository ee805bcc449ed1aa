// The package's own version, read when it is needed.

import { readFileSync } from "node:fs";

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const { version } = manifest as { version: string };
  return version;
}
