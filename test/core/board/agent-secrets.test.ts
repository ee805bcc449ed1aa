import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { AgentSecrets, type AgentSecretsOptions } from "../../../src/core/board/agent-secrets.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { failureOf, reference } from "../secrets/programs.ts";
import { recordingLogger } from "../../support/logger.ts";

async function open(options: Partial<AgentSecretsOptions> = {}) {
  const home = temporaryDirectory();
  const logger = recordingLogger();
  const values: string[] = [];
  const secrets = new AgentSecrets({
    env: { HOME: home, CITY: "Berlin-Mitte" },
    clock: systemClock,
    logger,
    onValue: (value) => values.push(value),
    ...options,
  });
  onTestFinished(() => secrets.close());
  return { secrets, home, logger, values };
}

const ask = (text: string) => ({ reference: reference(text), key: "env.TOKEN", server: "docs" });

describe("the secrets of an agent", () => {
  it("are told to whoever redacts them before anybody gets them", async () => {
    const { secrets, values } = await open();
    expect(await secrets.resolve(ask("secret://env/CITY"))).toBe("Berlin-Mitte");
    expect(values).toEqual(["Berlin-Mitte"]);
  });

  it("that cannot be had are named, with the place, the cause and what to do", async () => {
    const { secrets } = await open();
    expect(await failureOf(secrets.resolve(ask("secret://env/TOWN")))).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      server: "docs",
      message: "env.TOKEN needs secret://env/TOWN: the variable TOWN is not set",
      hint: "export TOWN",
      permanent: true,
    });
  });

  it("can be put into Plugboard's own file, and are found there", async () => {
    const { secrets, values } = await open();
    const stored = await secrets.store("file", "docs-TOKEN", "hunter2-hunter2");
    expect(stored.text).toBe("secret://file/~/.plugboard/secrets.json#docs-TOKEN");
    expect(values).toEqual(["hunter2-hunter2"]);
    expect(await secrets.resolve(ask(stored.text))).toBe("hunter2-hunter2");
    await secrets.store("file", "docs-TOKEN", "changed-value");
    expect(await secrets.resolve(ask(stored.text))).toBe("changed-value");
  });

  it("get other settings at once", async () => {
    const { secrets } = await open();
    const exec = { helper: { command: "/no/such/helper" } };
    expect((await failureOf(secrets.resolve(ask("secret://exec/helper/x")))).message).toContain(
      "there is no helper named 'helper'",
    );
    secrets.reconfigure({ exec });
    expect((await failureOf(secrets.resolve(ask("secret://exec/helper/x")))).message).toContain(
      "the helper 'helper' is not there",
    );
  });

  it("warn once of a file that everybody can read", async () => {
    const { secrets, home, logger } = await open();
    await mkdir(join(home, "a"));
    await writeFile(join(home, "a/b"), '{ "x": "1", "y": "2" }', { mode: 0o644 });
    await secrets.resolve(ask("secret://file/~/a/b#x"));
    await secrets.resolve(ask("secret://file/~/a/b#y"));
    expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
      [
        "warn",
        `every user of this machine can read the secrets in ${home}/a/b: run chmod 600 on it`,
      ],
    ]);
  });

  it("are not got any more when all is closed", async () => {
    const { secrets } = await open();
    await secrets.close();
    expect(await failureOf(secrets.resolve(ask("secret://env/CITY")))).toMatchObject({
      code: "CANCELLED",
    });
  });
});
