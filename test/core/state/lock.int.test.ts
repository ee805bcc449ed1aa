import { execFile } from "node:child_process";
import { lutimes, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withLock } from "../../../src/core/state/lock.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { type Compiled, compile } from "../../support/compile.ts";
import { Worker } from "../auth/worker.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const WORKER = new URL("lock.worker.mjs", import.meta.url);

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compile("core/state/lock", "util/clock");
});
afterAll(() => compiled.remove());

/** The path of a lock in a directory that is not there yet. */
async function freshPath(): Promise<string> {
  const directory = temporaryDirectory();
  return join(directory, "deep", "down.lock");
}

/** As if its holder had not touched it for so long. */
async function age(path: string, ms: number): Promise<void> {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}

const nothing = async (): Promise<void> => {};

describe("a lock", () => {
  it("is held by one task at a time, however many there are", async () => {
    const path = await freshPath();
    let inside = 0;
    let most = 0;
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        withLock(path, systemClock, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
          return index;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(results).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("is held by one process at a time: no count is lost", async () => {
    const path = await freshPath();
    const counter = `${path}.count`;
    await withLock(path, systemClock, () => writeFile(counter, "0"));
    const workers = Array.from(
      { length: 4 },
      () => new Worker(WORKER, compiled.modules, path, counter, "10"),
    );
    for (const worker of workers) expect(await worker.next()).toBe("done");
    expect(await readFile(counter, "utf8")).toBe("40");
  });

  it("is readable only by its owner, and gone after its release", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, async () => {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
    });
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("is released if the task fails, and the failure is passed on", async () => {
    const path = await freshPath();
    const failing = withLock(path, systemClock, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await withLock(path, systemClock, async () => "free")).toBe("free");
  });

  it("leaves no file behind on a full disk", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, nothing);
    const script = 'ulimit -f 0; exec "$0" "$@"';
    const args = [script, process.execPath, fileURLToPath(WORKER), compiled.modules, path];
    const failed = promisify(execFile)("bash", ["-c", ...args]);
    await expect(failed).rejects.toMatchObject({ stderr: expect.stringContaining("EFBIG") });
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("fails where no file can be created", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, nothing);
    const tooLong = join(path, "..", `${"x".repeat(300)}.lock`);
    await expect(withLock(tooLong, systemClock, nothing)).rejects.toMatchObject({
      code: "ENAMETOOLONG",
    });
  });
});

describe("a stale lock", () => {
  it("is removed at once if its holder has ended, however fresh the file is", async () => {
    const path = await freshPath();
    const worker = new Worker(WORKER, compiled.modules, path);
    expect(await worker.next()).toBe("held");
    await worker.kill();
    const entered = await Promise.all(
      [1, 2, 3].map((each) => withLock(path, systemClock, async () => each)),
    );
    expect(entered).toEqual([1, 2, 3]);
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it.each<[string, RegExp, string]>([
    ["its pid belongs to a later process now", /\d+$/, "1"],
    ["its holder ran before the machine was restarted", /(?<=^\w+-)\w+/, "00000000"],
  ])("is removed at once if %s", async (_, part, other) => {
    const path = await freshPath();
    await withLock(path, systemClock, async () => {
      const holder = JSON.parse(await readFile(path, "utf8"));
      const owner = holder.owner.replace(part, other);
      await writeFile(path, JSON.stringify({ token: "other", owner }));
      expect(await withLock(path, systemClock, async () => "free")).toBe("free");
    });
  });

  it.each<[string, string, number]>([
    ["nobody wrote to it, and it is old", "", -60_000],
    ["nobody wrote to it, and it is from the future", "", 3_600_000],
    ["its holder is on another machine and has not touched it", '{"owner":"other"}', -60_000],
  ])("is removed by its time if %s", async (_, content, ms) => {
    const path = await freshPath();
    await withLock(path, systemClock, nothing);
    await writeFile(path, content);
    await age(path, -ms);
    expect(await withLock(path, systemClock, async () => "free")).toBe("free");
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("is removed if it is an old link that leads nowhere", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, nothing);
    await symlink("nowhere", path);
    const then = new Date(Date.now() - 60_000);
    await lutimes(path, then, then);
    expect(await withLock(path, systemClock, async () => "free", 1000)).toBe("free");
  });

  it("is removed by one process at a time, also after one that died while removing it", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, nothing);
    for (const left of [path, `${path}.break`]) {
      await writeFile(left, "dead");
      await age(left, 60_000);
    }
    expect(await withLock(path, systemClock, async () => "free")).toBe("free");
    expect(await readdir(join(path, ".."))).toEqual([]);
  });

  it("is not removed while its holder lives, however old the file is; those who wait time out", async () => {
    const path = await freshPath();
    const worker = new Worker(WORKER, compiled.modules, path);
    expect(await worker.next()).toBe("held");
    await age(path, 600_000);
    // Time flies for those who wait; the holder says that it lives by the real one.
    let ahead = 0;
    const clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + (ahead += 10_000),
      after: (ms: number, task: () => void) => systemClock.after(ms / 10, task),
    };
    await expect(withLock(path, clock, nothing)).rejects.toMatchObject({
      code: "TIMEOUT",
      message: `another process holds the lock ${path}`,
      hint: "if no other plugboard is running, remove the file",
    });
    await worker.kill();
  });

  it("does not become stale while its holder touches it", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, async () => {
      await age(path, 14_000);
      const { mtimeMs } = await stat(path);
      while ((await stat(path)).mtimeMs === mtimeMs) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(Date.now() - (await stat(path)).mtimeMs).toBeLessThan(10_000);
    });
  });

  it("may be gone when its holder releases it", async () => {
    const path = await freshPath();
    expect(await withLock(path, systemClock, () => rm(path).then(() => "done"))).toBe("done");
  });

  it("that another process has taken is not released by the first holder", async () => {
    const path = await freshPath();
    await withLock(path, systemClock, () => writeFile(path, "somebody else"));
    expect(await readFile(path, "utf8")).toBe("somebody else");
  });
});
