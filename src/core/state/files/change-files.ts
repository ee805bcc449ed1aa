// Tells other processes that something changed: a file for each topic, which is replaced with each message.

import { randomBytes } from "node:crypto";
import { type BigIntStats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Invalidation, Topic } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { writeJsonFile } from "../json-file.ts";

/** Watching with the means of the system costs a handle per process, and does not work on every file system. */
const LOOK_EVERY = 500;

interface Subscription {
  topic: Topic;
  listener: () => void;
}

export class ChangeFiles implements Invalidation {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #subscriptions = new Set<Subscription>();
  /** What the files were at the last look. */
  readonly #versions = new Map<Topic, string>();
  /** The last message of each topic, and the one that waits for its end. */
  readonly #writing = new Map<Topic, Promise<void>>();
  readonly #waiting = new Map<Topic, Promise<void>>();
  #timer: Timer | undefined;

  constructor(stateDir: string, clock: Clock) {
    this.#directory = join(stateDir, "changes");
    this.#clock = clock;
  }

  /** What is published while a message is being written goes out together after it. */
  publish(topic: Topic): Promise<void> {
    const waiting = this.#waiting.get(topic);
    if (waiting !== undefined) return waiting;
    const next = (this.#writing.get(topic) ?? Promise.resolve()).then(() => {
      this.#waiting.delete(topic);
      const writing = this.#write(topic);
      this.#writing.set(topic, writing);
      return writing;
    });
    this.#waiting.set(topic, next);
    return next;
  }

  async #write(topic: Topic): Promise<void> {
    const id = randomBytes(8).toString("hex");
    // It is only a hint.
    await writeJsonFile(this.#file(topic), { id }).catch(() => {});
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    const subscription = { topic, listener };
    this.#subscriptions.add(subscription);
    // At once, so that everything that is published from now on is heard.
    if (!this.#versions.has(topic)) this.#versions.set(topic, versionNow(this.#file(topic)));
    this.#timer ??= this.#lookLater();
    return () => {
      this.#subscriptions.delete(subscription);
      if (this.#subscriptions.size > 0) return;
      this.#timer?.cancel();
      this.#timer = undefined;
      this.#versions.clear();
    };
  }

  #lookLater(): Timer {
    return this.#clock.later(LOOK_EVERY, () => void this.#lookAtAll());
  }

  async #lookAtAll(): Promise<void> {
    const timer = this.#timer;
    const topics = new Set([...this.#subscriptions].map(({ topic }) => topic));
    for (const topic of topics) await this.#look(topic);
    if (timer !== undefined && this.#timer === timer) this.#timer = this.#lookLater();
  }

  async #look(topic: Topic): Promise<void> {
    const version = await versionOf(this.#file(topic));
    const before = this.#versions.get(topic);
    // Nobody listens any more, or nothing was published.
    if (before === undefined || before === version) return;
    this.#versions.set(topic, version);
    for (const subscription of this.#subscriptions) {
      if (subscription.topic === topic) subscription.listener();
    }
  }

  #file(topic: Topic): string {
    return join(this.#directory, `${topic}.json`);
  }
}

async function versionOf(file: string): Promise<string> {
  return versionIn(await stat(file, { bigint: true }).catch(() => undefined));
}

function versionNow(file: string): string {
  try {
    return versionIn(statSync(file, { bigint: true, throwIfNoEntry: false }));
  } catch {
    return versionIn(undefined);
  }
}

/** The file is always replaced as a whole. */
function versionIn(found: BigIntStats | undefined): string {
  return found === undefined ? "none" : [found.ino, found.mtimeNs].join(" ");
}
