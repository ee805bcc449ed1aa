import { describe, expect, it } from "vitest";
import { KeyedQueue } from "../../src/util/keyed-queue.ts";
import { settle } from "../support/manual-clock.ts";

/** Tasks that begin and end when they are told to, and what happened. */
function workshop() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const task = (name: string) => async (): Promise<string> => {
    log.push(`${name} begins`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    log.push(`${name} ends`);
    return name;
  };
  return { log, task, end: (name: string) => ends.get(name)?.() };
}

describe("tasks", () => {
  it("with the same key wait for each other, those with another key do not", async () => {
    const { log, task, end } = workshop();
    const tasks = new KeyedQueue();
    const all = [
      tasks.run("a", task("first")),
      tasks.run("a", task("second")),
      tasks.run("b", task("other")),
    ];
    await settle();
    expect(log).toEqual(["first begins", "other begins"]);
    end("first");
    await settle();
    expect(log.slice(2)).toEqual(["first ends", "second begins"]);
    end("second");
    end("other");
    expect(await Promise.all(all)).toEqual(["first", "second", "other"]);
  });

  it("that fail do not keep the next from running", async () => {
    const tasks = new KeyedQueue();
    const failing = tasks.run("a", () => Promise.reject(new Error("no")));
    const next = tasks.run("a", async () => "done");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("done");
  });

  it("are awaited by settled, also those that fail", async () => {
    const { log, task, end } = workshop();
    const tasks = new KeyedQueue();
    await tasks.settled();
    void tasks.run("a", task("slow"));
    const failing = tasks.run("b", () => Promise.reject(new Error("no"))).catch(() => {});
    const settled = tasks.settled().then(() => log.push("settled"));
    await settle();
    end("slow");
    await Promise.all([settled, failing]);
    expect(log).toEqual(["slow begins", "slow ends", "settled"]);
  });
});
