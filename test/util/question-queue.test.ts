import { describe, expect, it, vi } from "vitest";
import { QuestionQueue } from "../../src/util/question-queue.ts";
import { settle } from "../support/manual-clock.ts";

const forever = (): AbortSignal => new AbortController().signal;
const never = (): Promise<never> => new Promise(() => {});

describe("questions", () => {
  it("are asked one after the other, even if the one before failed", async () => {
    const questions = new QuestionQueue();
    const whom = {};
    const order: string[] = [];
    const failed = questions.ask(whom, "docs", forever(), async () => {
      order.push("first");
      await settle();
      order.push("first ends");
      throw new Error("no");
    });
    const second = questions.ask(whom, "docs", forever(), async () => order.push("second"));
    await expect(failed).rejects.toThrow("no");
    await second;
    expect(order).toEqual(["first", "first ends", "second"]);
  });

  it("to different people do not wait for each other", async () => {
    const questions = new QuestionQueue();
    void questions.ask({}, "docs", forever(), never);
    expect(await questions.ask({}, "docs", forever(), async () => "asked")).toBe("asked");
  });

  it("are given up with their signal, waiting or being asked", async () => {
    const questions = new QuestionQueue();
    const whom = {};
    const gone = new AbortController();
    const task = vi.fn<() => Promise<never>>(never);
    const first = questions.ask(whom, "docs", gone.signal, task);
    const waiting = questions.ask(whom, "docs", gone.signal, task);
    const third = questions.ask(whom, "docs", forever(), async () => "asked");
    await settle();
    gone.abort();
    await expect(first).rejects.toThrow("nobody waits");
    await expect(waiting).rejects.toThrow("nobody waits");
    expect(await third).toBe("asked");
    expect(task).toHaveBeenCalledTimes(1);
    await expect(questions.ask(whom, "docs", gone.signal, task)).rejects.toThrow("nobody waits");
  });

  it("are refused when too many wait", async () => {
    const questions = new QuestionQueue();
    const whom = {};
    for (let each = 0; each < 8; each += 1) void questions.ask(whom, "docs", forever(), never);
    expect(await questions.ask(whom, "docs", forever(), async () => "asked")).toBeUndefined();
  });

  it("of one who asks again and again wait for those of others", async () => {
    const questions = new QuestionQueue();
    const whom = {};
    const order: string[] = [];
    const ask = (from: string): Promise<unknown> =>
      questions.ask(whom, from, forever(), async () => {
        order.push(from);
        await settle();
        if (order.length < 20) void ask("noisy");
      });
    for (let each = 0; each < 20; each += 1) void ask("noisy");
    await Promise.all([ask("quiet"), ask("other")]);
    expect(order.slice(0, 4)).toEqual(["noisy", "noisy", "quiet", "other"]);
  });
});
