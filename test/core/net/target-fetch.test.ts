import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { targetFetch } from "../../../src/core/net/target-fetch.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

it.each<[string, (path: string) => void]>([
  ["does not exist", () => {}],
  ["is not a file", (path) => mkdirSync(path)],
  [
    "is too large",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 30);
    },
  ],
])("says that the file of an authority %s", async (what, place) => {
  const ca = join(temporaryDirectory(), "ca.pem");
  place(ca);
  const target = {
    kind: "http" as const,
    url: "https://docs.example/mcp",
    headers: {},
    allowInsecure: false,
    allowPrivate: false,
    tls: { ca },
  };
  const options = { networkAllow: [], isOfSession: false, env: {}, clock: systemClock };
  await expect(targetFetch(target, options)).rejects.toMatchObject({
    code: "UNRESOLVED_VALUE",
    message: `the file ${ca} (tls) ${what}`,
  });
});
