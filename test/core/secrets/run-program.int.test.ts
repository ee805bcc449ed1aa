import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ProgramOptions, ProgramResult } from "../../../src/core/types/secret-provider.ts";
import { programRunner } from "../../../src/core/secrets/run-program.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { eventually, isAlive } from "../../support/processes.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { context, fakePrograms } from "./programs.ts";

async function run(
  script: string,
  args: string[] = [],
  options: Partial<ProgramOptions> = {},
): Promise<ProgramResult> {
  const directory = await fakePrograms({ helper: script });
  const env = { PATH: "/usr/bin:/bin", FROM_HOST: "host" };
  const path = Promise.resolve(`${directory}:/usr/bin:/bin`);
  return programRunner({ env, path, clock: systemClock })("helper", args, {
    ...context(),
    ...options,
  });
}

const told = (result: ProgramResult): unknown =>
  result.kind === "exited" ? { ...result, stdout: result.stdout.toString() } : result;

describe("a program", () => {
  it("gets its arguments, its input and its environment as they are, without a shell", async () => {
    const result = await run(
      'printf "%s|" "$@"; cat; printf "|$FROM_HOST|$MORE"',
      ["a b", "$(id)"],
      {
        input: "in; put\n",
        env: { MORE: "more" },
      },
    );
    expect(told(result)).toEqual({
      kind: "exited",
      code: 0,
      stdout: "a b|$(id)|in; put\n|host|more",
      stderr: "",
    });
  });

  it("that fails says so with the end of its stderr, in plain text", async () => {
    const result = await run("printf '%05000d' 1 >&2; printf '\\033[31mno\\033[0m\\n' >&2; exit 3");
    expect(told(result)).toMatchObject({ code: 3, stderr: expect.stringMatching(/^0+1no$/) });
    expect(result.kind === "exited" && result.stderr.length).toBeLessThan(4001);
  });

  it("that need not read its input may end before", async () => {
    const input = "x".repeat(2 ** 20);
    expect(told(await run("echo done", [], { input }))).toMatchObject({ stdout: "done\n" });
  });

  it("that is not there, or cannot be executed, is told apart", async () => {
    const directory = temporaryDirectory();
    const runner = programRunner({ env: { PATH: directory }, clock: systemClock });
    expect(await runner("no-such-program", [], context())).toEqual({ kind: "not-found" });
    expect(await runner(directory, [], context())).toEqual({
      kind: "failed",
      reason: "the program is not executable",
    });
  });

  it("that prints too much is ended", async () => {
    const result = await run("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", [], {
      maxBytes: 1000,
    });
    expect(result).toEqual({ kind: "too-large", bytes: 1000 });
  });

  it.each(["takes too long", "nobody waits for"])(
    "that %s is ended with all that it has started",
    async (why) => {
      const pids = join(temporaryDirectory(), "pids");
      const directory = await fakePrograms({ helper: `sleep 60 & echo "$$ $!" > ${pids}; wait` });
      const clock = new ManualClock();
      const leaving = new AbortController();
      const { signal } = leaving;
      const runner = programRunner({ env: { PATH: "/usr/bin:/bin" }, clock });
      const outcome = runner(join(directory, "helper"), [], { signal, timeout: 300 });
      const ended = outcome.catch((error: unknown) => error);
      let started: number[] = [];
      await eventually(() => {
        started = existsSync(pids) ? readFileSync(pids, "utf8").trim().split(" ").map(Number) : [];
        return started.length === 2;
      });
      if (why === "takes too long") {
        await clock.advance(300);
        expect(await ended).toEqual({ kind: "too-late", ms: 300 });
      } else {
        leaving.abort();
        expect(await ended).toMatchObject({ code: "CANCELLED" });
      }
      await eventually(() => !started.some(isAlive));
    },
  );

  it("whose output a daemon holds open is over when it ends", async () => {
    const result = await run('sleep 60 & echo "$!"');
    expect(told(result)).toMatchObject({ kind: "exited", code: 0 });
    await eventually(() => !isAlive(Number((told(result) as { stdout: string }).stdout)));
  });

  it("that leaves something running is over when it ends, and so is what it left", async () => {
    const result = await run('sleep 60 >/dev/null 2>&1 & echo "$!"');
    const pid = Number(told(result) && (told(result) as { stdout: string }).stdout);
    await eventually(() => !isAlive(pid));
  });
});
