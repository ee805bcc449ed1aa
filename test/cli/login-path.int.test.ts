// Real shells with start files of their own, as people have them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findLoginPath, type LoginPathOptions } from "../../src/cli/login-path.ts";
import { recordingLogger } from "../support/logger.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { eventually, expectNoProcesses, processesWith } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";

const BARE = "/usr/bin:/bin";

let home = "";

beforeEach(() => {
  home = temporaryDirectory();
});

afterEach(async () => {
  // A killed group takes a moment to be gone.
  await eventually(() => processesWith(marker()).length === 0);
  expectNoProcesses(marker());
});

const marker = (): string => `HOME=${home}`;

function startFile(name: string, ...lines: string[]): void {
  writeFileSync(join(home, name), lines.join("\n"));
}

function find(env: Record<string, string> = {}, options: Partial<LoginPathOptions> = {}) {
  return findLoginPath({ env: { HOME: home, SHELL: "/bin/bash", PATH: BARE, ...env }, ...options });
}

describe("the login shell's PATH", () => {
  it.each([
    ["/bin/bash", ".bash_profile"],
    ["/bin/bash", ".profile"],
    ["/bin/sh", ".profile"],
  ])("is what %s makes of %s", async (SHELL, name) => {
    startFile(name, 'export PATH="$HOME/tools:$PATH"');
    expect((await find({ SHELL }))?.split(":")[0]).toBe(join(home, "tools"));
  });

  it("is that of an interactive shell", async () => {
    startFile(".bash_profile", '. "$HOME/.bashrc"');
    startFile(".bashrc", "case $- in *i*) ;; *) return ;; esac", "PATH=/from/bashrc:$PATH");
    expect((await find())?.split(":")[0]).toBe("/from/bashrc");
  });

  it("comes after a PATH that somebody chose", async () => {
    startFile(".profile", "export PATH=/shell/bin");
    expect(await find({ PATH: "/venv/bin:/bin" })).toBe("/venv/bin:/bin:/shell/bin");
  });

  it("is found among the output of start files, whose questions get no answer", async () => {
    startFile(
      ".bash_profile",
      "echo Welcome; echo oops >&2",
      "read -r answer",
      "trap 'echo Bye' EXIT",
      "set -x; PATH=/noisy",
    );
    startFile(".bash_logout", "echo logged out");
    expect(await find()).toBe(`/noisy:${BARE}`);
  });

  it("is looked up with the inherited environment, and a variable that says so", async () => {
    startFile(".profile", 'PATH="/$EDITOR_SAYS/$PLUGBOARD_RESOLVING_ENVIRONMENT"');
    expect(await find({ EDITOR_SAYS: "hello" })).toBe(`/hello/1:${BARE}`);
  });

  it("leaves nothing running of what a start file started", async () => {
    startFile(".profile", 'sleep 600 & echo $! > "$HOME/pid"', "PATH=/with/child");
    expect(await find()).toBe(`/with/child:${BARE}`);
    expect(Number(readFileSync(join(home, "pid"), "utf8"))).toBeGreaterThan(1);
  });
});

describe("without an answer the inherited PATH stays", () => {
  it("and a start file has time to clean up", async () => {
    // As pyenv takes its lock.
    const rehash = `bash -c 'trap "rm $HOME/lock" EXIT; touch $HOME/lock; sleep 600 & wait'`;
    startFile(".profile", rehash);
    const ending = new AbortController();
    const found = find({}, { signal: ending.signal });
    await eventually(() => existsSync(join(home, "lock")));
    ending.abort();
    expect(await found).toBeUndefined();
    await eventually(() => !existsSync(join(home, "lock")));
  });

  it("from a shell that hangs, after its time", async () => {
    startFile(".profile", 'touch "$HOME/there"', "while :; do sleep 600; done");
    const clock = new ManualClock();
    const logger = recordingLogger();
    const found = find({}, { clock, logger });
    await eventually(() => processesWith(marker()).length > 1);
    await clock.advance(10_000);
    expect(await found).toBeUndefined();
    expect(logger.lines).toMatchObject([
      {
        level: "warn",
        message: "could not get the PATH of /bin/bash: it did not answer within 10 s",
      },
    ]);
  });

  it("from a shell that nobody waits for any more", async () => {
    startFile(".profile", "while :; do sleep 600; done");
    const ending = new AbortController();
    const logger = recordingLogger();
    const found = find({}, { signal: ending.signal, logger });
    await eventually(() => processesWith(marker()).length > 1);
    ending.abort();
    expect(await found).toBeUndefined();
    expect(logger.lines).toEqual([]);
    expect(await find({}, { signal: ending.signal })).toBeUndefined();
  });

  it.each([
    ["ends", ["exit 3"], "it ended without an answer"],
    ["talks without end", ["yes"], "its start files print too much"],
  ])("from one that %s", async (_, lines, reason) => {
    startFile(".profile", ...lines);
    const logger = recordingLogger();
    expect(await find({}, { logger })).toBeUndefined();
    expect(logger.lines.at(-1)?.message).toBe(`could not get the PATH of /bin/bash: ${reason}`);
  });

  it("from one that does not exist, or is not a program", async () => {
    const logger = recordingLogger();
    expect(await find({ SHELL: join(home, "no-shell") }, { logger })).toBeUndefined();
    mkdirSync(join(home, "a-directory"));
    expect(await find({ SHELL: join(home, "a-directory") }, { logger })).toBeUndefined();
    expect(logger.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining("ENOENT"),
      expect.stringContaining("EACCES"),
    ]);
  });

  it("from one that cannot even be tried", async () => {
    const logger = recordingLogger();
    const EDITOR_SAYS = "x".repeat(4 << 20);
    expect(await find({ EDITOR_SAYS }, { logger })).toBeUndefined();
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining("E2BIG")]);
  });

  it("if there is no shell, or this process was started by its start files", async () => {
    const logger = recordingLogger();
    startFile(".profile", "export PATH=/shell/bin");
    expect(await find({ SHELL: "/bin/false" }, { logger })).toBeUndefined();
    expect(await find({}, { logger, platform: "win32" })).toBeUndefined();
    expect(await find({ PLUGBOARD_RESOLVING_ENVIRONMENT: "1" }, { logger })).toBeUndefined();
    expect(logger.lines).toEqual([]);
  });
});
