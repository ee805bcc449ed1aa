import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { placeOf } from "../../../src/core/config/find.ts";
import { gatewayFile } from "../../../src/core/state/running-gateway.ts";
import { fixture } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("a gateway in the background that you start by hand makes the directory of its log", async () => {
  scratch.servers({ echo: fixture("echo") });
  const file = placeOf(join(scratch.directory, "servers.json"));
  const log = gatewayFile(join(scratch.directory, "home"), file, "log");
  const up = scratch.start(["up", "--background"]);
  let hasEnded = false;
  void up.done.finally(() => (hasEnded = true));
  const said = (): string => (existsSync(log) ? readFileSync(log, "utf8") : "");
  await eventually(() => hasEnded || said().includes("runs in the background"));
  expect(up.stderr.text).toBe("");
  expect((await scratch.run(["down"])).stdout).toContain("has stopped");
  expect(await up.done).toMatchObject({ code: 0 });
});
