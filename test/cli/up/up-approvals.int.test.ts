// `plugboard up` with calls that `plugboard approvals` answers, and tokens with rules: the commands together.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TokenFiles } from "../../../src/core/state/files/token-files.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { legacy, post } from "../../serve/endpoint/harness.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

it("a call of a named token waits, is listed and allowed; its own rules restrict it", async () => {
  scratch.servers({ docs: { ...fixture("echo"), approval: { tools: { echo: "ask" } } } });
  const stderr = new Sink();
  const { done, events } = scratch.start(["up", "--port", "0"], { stderr });
  await stderr.until("/mcp.");
  const url = new URL(/http:\S+\/mcp/.exec(stderr.text)?.[0] ?? "");
  const stateDir = join(scratch.directory, "home");
  const tokens = new TokenFiles({ stateDir, clock: systemClock, random: randomBytes });
  const policy = { tools: { deny: ["docs/add"] } };
  const { text } = await tokens.add({ name: "ci", policy });
  const headers = { authorization: `Bearer ${text}` };
  const call = (name: string): Promise<string> =>
    post(
      url,
      legacy("tools/call", { name: `docs__${name}`, arguments: { text: "hi", a: 1, b: 2 } }),
      headers,
    ).then(({ message }) => message?.["error"]?.message ?? message?.["result"].content[0].text);

  expect(await call("add")).toContain("there is no tool named");
  const waiting = call("echo");
  await stderr.until("plugboard approvals allow");
  const json = JSON.parse((await scratch.run(["approvals", "--json"])).stdout);
  expect(json.waiting).toMatchObject([{ tool: "docs/echo", label: "ci" }]);
  await scratch.run(["approvals", "allow", json.waiting[0].id]);
  expect(await waiting).toBe("hi");
  expect(JSON.parse((await scratch.run(["approvals", "--json"])).stdout).waiting).toEqual([]);

  events.emit("SIGTERM");
  await done;
});
