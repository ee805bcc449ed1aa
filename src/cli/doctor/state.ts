// Plugboard's own files: their rights, and what processes have left there that no longer run.

import { access, constants, lstat, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { listOrphans, namesOf, reapOrphans } from "../../core/process/reap-orphans.ts";
import { removeStaleLock } from "../../core/state/lock.ts";
import { removeStaleRecord, staleRecords } from "../../core/state/running-gateway.ts";
import {
  findStaleLocks,
  findStaleTemporaries,
  removeStaleTemporaries,
} from "../../core/state/stale-files.ts";
import {
  decidingPaths,
  type OtherWriters,
  otherWriters,
} from "../../core/state/state-directory.ts";
import type { Environment } from "../../util/environment.ts";
import { reasonOf } from "../../util/system-problem.ts";
import { plural, shellQuoted } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { findSource } from "../find-source.ts";
import type { DoctorContext } from "./context.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const stateGroup: CheckGroup = {
  title: "Plugboard's own files",
  concernsServer: true,
  async *run(context) {
    const { home, cli } = context;
    const obstacle = await homeObstacle(home);
    if (obstacle !== undefined) {
      yield obstacle;
      return;
    }
    const rights = [...writable(home, cli.io.env), ...(await readable(home))];
    yield* rights;
    if (rights.length === 0) {
      yield { level: "ok", check: "state-directory", message: `${visible(home)} is yours alone` };
    }
    yield* await leftBehind(context);
  },
};

/** What makes all other checks of the directory pointless. */
async function homeObstacle(home: string): Promise<Finding | undefined> {
  const where = "PLUGBOARD_HOME";
  const broken = (message: string, remedy: string): Finding => ({
    level: "broken",
    check: "state-directory",
    subject: home,
    message,
    remedy,
  });
  try {
    const found = await stat(home);
    if (!found.isDirectory()) {
      return broken(
        `${visible(home)} is not a directory, and Plugboard keeps its files there`,
        `move the file away, or set ${where} to a directory`,
      );
    }
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It is made when it is first needed.
    if (code === "ENOENT") {
      return {
        level: "ok",
        check: "state-directory",
        message: `${visible(home)} is not there yet`,
      };
    }
    return broken(
      `Plugboard cannot use ${visible(home)}, where it keeps its files: ${reasonOf(error)}`,
      `make it readable and writable for you, or set ${where} to another directory`,
    );
  }
}

function writable(home: string, env: Environment): Finding[] {
  return decidingPaths(home).flatMap((path): Finding[] => {
    const writers = otherWriters(path, env);
    if (writers === undefined) return [];
    const finding = {
      level: "broken",
      check: "state-writable",
      subject: path,
      message: writersMessage(path, writers),
      remedy: `to end that:\n  ${writers.remedy}`,
    } as const;
    // Only root can give a file to somebody else.
    if (writers.kind === "owner") return [finding];
    return [
      {
        ...finding,
        fix: {
          describe: `take the right to write ${visible(path)} from others`,
          async apply() {
            const without = writers.remedy.includes("go-w") ? 0o022 : 0o002;
            await withoutRights(path, home, without);
            return `only you can write ${visible(path)} now; to see what is trusted, in case that was somebody else: plugboard trust --list`;
          },
        },
      },
    ];
  });
}

function writersMessage(path: string, writers: OtherWriters): string {
  return writers.kind === "owner"
    ? `${visible(path)} belongs to another user (uid ${writers.uid}), who could change what Plugboard trusts`
    : `other users can write to ${visible(path)}, and so change what Plugboard trusts; until that ends, no command works`;
}

/** What holds credentials. */
const CREDENTIALS = /^(?:(?:model-keys|secrets|keys|grant-.*|client-.*)\.json|token)$/;

async function readable(home: string): Promise<Finding[]> {
  const others = [join(home, "secrets.json"), join(home, "gateway", "token")];
  const files = [...decidingPaths(home), ...others].filter((path) =>
    CREDENTIALS.test(basename(path)),
  );
  const found = await Promise.all(
    files.map(async (path): Promise<Finding[]> => {
      const mode = (await lstat(path).catch(() => undefined))?.mode ?? 0;
      if (process.geteuid === undefined || (mode & 0o044) === 0) return [];
      return [
        {
          level: "warning",
          check: "state-readable",
          subject: path,
          message: `other users can read ${visible(path)}, which has credentials in it`,
          remedy: `to end that:\n  chmod 600 ${shellQuoted(path)}`,
          fix: {
            describe: `make ${visible(path)} readable for you alone`,
            async apply() {
              await withoutRights(path, home, 0o077);
              return `only you can read ${visible(path)} now`;
            },
          },
        },
      ];
    }),
  );
  return found.flat();
}

/**
 * Changes the rights of the file at the path itself, below the home. A link could lead anywhere, and another user who
 * may write there could put one in its place between two looks.
 */
async function withoutRights(path: string, home: string, rights: number): Promise<void> {
  const place = path === home ? path : await realpath(dirname(path));
  const inside = path === home ? home : join(await realpath(home), relative(home, dirname(path)));
  const isLink = (await lstat(path)).isSymbolicLink();
  if (path !== home && (isLink || place !== inside)) {
    throw new Error(`${path} is behind a link; change what it leads to yourself`);
  }
  const noLink = path === home ? 0 : constants.O_NOFOLLOW;
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | noLink);
  try {
    const { mode, uid } = await file.stat();
    if (uid !== process.geteuid?.()) throw new Error(`${path} belongs to somebody else`);
    await file.chmod(mode & 0o7777 & ~rights);
  } finally {
    await file.close();
  }
}

async function leftBehind({ home, cli }: DoctorContext): Promise<Finding[]> {
  const { clock } = cli;
  const [processes, locks] = await Promise.all([listOrphans(), findStaleLocks(home)]);
  const records = staleRecords(home);
  const findings: Finding[] = [];
  if (processes.length > 0) {
    const pids = processes.map(({ pid }) => pid).join(", ");
    findings.push({
      level: "note",
      check: "stale-processes",
      message: `servers of a Plugboard that was killed still run: ${namesOf(processes)} (pid ${pids})`,
      remedy:
        "they end as soon as a command starts servers; to end them now: plugboard doctor --fix",
      fix: {
        describe: `end ${plural(processes.length, "process")} of servers (pid ${pids})`,
        async apply() {
          const ended = await reapOrphans({ clock });
          return ended.length === 0 ? "they have ended by themselves" : `ended ${namesOf(ended)}`;
        },
      },
    });
  }
  if (locks.length > 0) {
    findings.push({
      level: "note",
      check: "stale-locks",
      message: `a Plugboard that was killed left ${plural(locks.length, "lock")}: ${locks.map(visible).join(", ")}`,
      remedy: `nobody waits for ${pronoun(locks)}; to remove ${pronoun(locks)}: plugboard doctor --fix`,
      fix: {
        describe: `remove ${locks.map(visible).join(", ")}`,
        async apply() {
          // Somebody may have taken one since, or put something else in its place.
          const still = new Set(await findStaleLocks(home));
          const removed = locks.filter((path) => still.has(path));
          for (const path of removed) await removeStaleLock(path);
          return `removed ${plural(removed.length, "lock")}`;
        },
      },
    });
  }
  if (records.length > 0) {
    findings.push({
      level: "note",
      check: "stale-gateways",
      message: `${plural(records.length, "gateway")} ended without saying so`,
      remedy: `nobody waits for ${pronoun(records)}; to remove the record of ${pronoun(records)}: plugboard doctor --fix`,
      fix: {
        describe: `remove ${records.map(visible).join(", ")}`,
        async apply() {
          // One may have been started since.
          const still = new Set(staleRecords(home));
          const removed = records.filter((path) => still.has(path));
          for (const path of removed) removeStaleRecord(path);
          return `removed ${plural(removed.length, "record")}`;
        },
      },
    });
  }
  const source = findSource(cli);
  const beside = source.kind === "file" ? [source.path] : [];
  const searched = { stateDir: home, beside, now: clock.now() };
  const temporaries = await findStaleTemporaries(searched);
  if (temporaries.length > 0) {
    findings.push({
      level: "note",
      check: "stale-files",
      message: `a Plugboard that was killed left ${plural(temporaries.length, "file")} that it was writing: ${temporaries.map(visible).join(", ")}`,
      remedy: `nobody reads ${pronoun(temporaries)}; to remove ${pronoun(temporaries)}: plugboard doctor --fix`,
      fix: {
        describe: `remove ${temporaries.map(visible).join(", ")}`,
        async apply() {
          const removed = await removeStaleTemporaries(searched);
          return `removed ${plural(removed.length, "file")}`;
        },
      },
    });
  }
  return findings;
}

function pronoun(items: readonly unknown[]): string {
  return items.length === 1 ? "it" : "them";
}
