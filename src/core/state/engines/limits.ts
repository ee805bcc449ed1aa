// Limits that all replicas count together, in Valkey: one script for all buckets of a call, by the engine's clock. While a limit is
// far away, the script gives some for the next calls too. While Valkey is away, limits are divided between the replicas.

import { PlugboardError } from "../../types/errors.ts";
import type { Delay, Leave, LimitBucket, Limits } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { within } from "../../../util/clock.ts";
import { whyAway } from "./driver.ts";
import { CallsUnderWay } from "./calls-under-way.ts";
import type { DividedLimits } from "./divided-limits.ts";
import { KEPT_MS, Stock } from "./stock.ts";
import { numberIn, type Valkey, type ValkeyClient } from "./valkey.ts";

/** How often it is tried while it does not answer. */
const RETRY_MS = 1000;
/** How long the start of a gateway waits for it, as while it loads what it had stored. */
const START_MS = 5000;
/** The longest after which a call is told to come back. A bucket gets one sooner, unless its limit has just become lower. */
const LONGEST_REFUSED_MS = 3_600_000;
/** Begins the keys of buckets. In a cluster the braces keep all of them on one node: a call takes from several in one step. */
const PREFIX = "{plugboard}:limit:";
/** A bucket to see whether Valkey answers and can be written to. That nothing is left in it is an answer too. */
const PROBE = { key: "probe", perMinute: 1 };

/**
 * KEYS: the buckets of all who ask at once. ARGV: for each of them how many buckets are its own, how many it takes of each (1 for a
 * call, 0 to have some in stock), its longest wait, how many more of each it would like, and how many a minute for each. A call
 * takes one of each, or none if one needs longer; the next one finds what it left. More are given if each bucket stays half full.
 * A bucket that is not there is full, and one that has become full is forgotten. Returns for each whether it was refused, how many
 * more it got, and the waits. After a failover, the clock may be behind the one that a bucket was written by: then no time has passed.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local levels, rates, used, answer = {}, {}, {}, {}
local first, arg = 0, 1
while arg <= #ARGV do
  local count, own = tonumber(ARGV[arg]), tonumber(ARGV[arg + 1])
  local longest, more = tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3])
  local refused, mark = 0, #answer + 1
  for at = 1, count do
    local key, rate = KEYS[first + at], tonumber(ARGV[arg + 3 + at])
    if not levels[key] then
      local held = redis.call('HMGET', key, 'left', 'at')
      levels[key] = rate
      if held[1] then levels[key] = held[1] + math.max(0, now - held[2]) * rate / 60000 end
      used[#used + 1] = key
    end
    rates[key] = rate
    local left, wait = math.min(rate, levels[key]), 0
    if own > 0 and left < 0.999999 then wait = math.ceil((1 - left) * 60000 / rate) end
    if wait > longest then refused = 1 end
    answer[mark + 1 + at] = wait
    levels[key] = left - own
  end
  for at = 1, count do
    local key = KEYS[first + at]
    if refused == 1 then levels[key] = levels[key] + own end
    levels[key] = levels[key] - more
  end
  local given = more
  for at = 1, count do
    local key = KEYS[first + at]
    if refused == 1 or levels[key] < rates[key] / 2 then given = 0 end
  end
  for at = 1, count do
    local key = KEYS[first + at]
    levels[key] = levels[key] + more - given
  end
  answer[mark], answer[mark + 1] = refused, given
  first, arg = first + count, arg + 4 + count
end
for _, key in ipairs(used) do
  local left, rate = levels[key], rates[key]
  redis.call('HSET', key, 'left', tostring(left), 'at', tostring(now))
  redis.call('PEXPIRE', key, math.ceil((rate - left) * 60000 / rate) + 1000)
end
return answer
`;

/** KEYS: the buckets. ARGV: how many come back to each. */
const GIVE_BACK = `
for at, key in ipairs(KEYS) do
  if redis.call('EXISTS', key) == 1 then redis.call('HINCRBYFLOAT', key, 'left', ARGV[at]) end
end
return 0
`;

export interface ValkeyLimitsOptions {
  valkey: Valkey;
  /** Used while Valkey is away. */
  divided: DividedLimits;
  clock: Clock;
}

/** What has not been sent yet. */
interface Asking {
  buckets: readonly LimitBucket[];
  /** 1 for a call, 0 for what the next calls may need. */
  own: 0 | 1;
  longestWait: number;
  /** How many of each for the stock. */
  more: number;
  resolve: (delay: undefined | Delay) => void;
  reject: (error: unknown) => void;
}

export class ValkeyLimits implements Limits {
  /** For people, without credentials. */
  readonly where: string;
  readonly #client: ValkeyClient;
  readonly #options: ValkeyLimitsOptions;
  /** Why it cannot be reached or used, and what tries it again: calls do not wait for that. */
  #away: { why: string; isRefused: boolean; probe: Timer } | undefined;
  #asking: Asking[] = [];
  readonly #stock = new Stock();
  #tidier: Timer | undefined;
  /** Why no connection can be made: those who wait for one are told only that there is none. */
  #cause: unknown;
  #isClosed = false;
  readonly #underWay: CallsUnderWay;

  private constructor(options: ValkeyLimitsOptions) {
    const { client, where } = options.valkey;
    this.where = where;
    this.#client = client;
    this.#options = options;
    this.#underWay = new CallsUnderWay(client, options.clock, (error) => this.#onFailed(error));
    client.on("error", (error) => {
      this.#cause = error;
    });
    client.on("close", () => this.#onFailed(new Error("the connection ended")));
    client.defineCommand("plugboardTake", { lua: TAKE });
    client.defineCommand("plugboardGiveBack", { lua: GIVE_BACK });
  }

  /** Tries every command that will be used. Resolves also if that fails: limits are divided then. */
  static async open(options: ValkeyLimitsOptions): Promise<ValkeyLimits> {
    const limits = new ValkeyLimits(options);
    const tried = options.valkey.client
      .connect()
      .then(() => limits.#tryAll())
      .catch((error: unknown) => limits.#onFailed(error))
      .then(() => true);
    const isTried = await within(options.clock, START_MS, tried);
    if (!isTried) limits.#onFailed(new Error("it is not ready"));
    return limits;
  }

  /** Why it cannot be reached, while it cannot. */
  get away(): string | undefined {
    return this.#away?.isRefused ? undefined : this.#away?.why;
  }

  /** What Valkey refuses to this user, as long as it does. Limits are divided then: nothing can be counted with some of the commands. */
  get refusal(): string | undefined {
    return this.#away?.isRefused ? this.#away.why : undefined;
  }

  take(
    buckets: readonly LimitBucket[],
    longestWait: number,
  ): undefined | Promise<undefined | Delay> {
    const now = this.#options.clock.monotonic();
    if (this.#away !== undefined || !this.#stock.take(buckets, now)) {
      return this.#take(buckets, longestWait);
    }
    for (const bucket of buckets) if (this.#stock.isLow(bucket)) this.#fill(bucket);
    return undefined;
  }

  giveBack(buckets: readonly LimitBucket[]): void {
    if (this.#away !== undefined) return this.#options.divided.giveBack(buckets);
    this.#giveBack(buckets.map(({ key }) => [key, 1]));
  }

  async enter(key: string, most: number): Promise<Leave | undefined> {
    if (this.#away === undefined) {
      try {
        return await this.#underWay.enter(key, most);
      } catch (error) {
        this.#onFailed(error);
      }
    }
    return this.#options.divided.enter(key, most);
  }

  close(): void {
    this.#isClosed = true;
    this.#away?.probe.cancel();
    this.#underWay.close();
    this.#tidier?.cancel();
    this.#client.disconnect();
  }

  async #take(buckets: readonly LimitBucket[], longestWait: number): Promise<undefined | Delay> {
    if (this.#away === undefined) {
      try {
        return await this.#ask(buckets, longestWait);
      } catch (error) {
        this.#onFailed(error);
      }
    }
    return this.#options.divided.take(buckets, longestWait);
  }

  #fill(bucket: LimitBucket): void {
    this.#ask([bucket], 0, 0).catch((error: unknown) => this.#onFailed(error));
  }

  #giveBack(counts: readonly (readonly [string, number])[]): void {
    const keys = counts.map(([key]) => PREFIX + key);
    this.#client
      .plugboardGiveBack(keys.length, ...keys, ...counts.map(([, count]) => count))
      .then((answer) => numberIn(answer, 0))
      .catch((error: unknown) => this.#onFailed(error));
  }

  /** Those who ask in the same turn of the event loop go together: one command costs more than what it does. */
  #ask(
    buckets: readonly LimitBucket[],
    longestWait: number,
    own: 0 | 1 = 1,
  ): Promise<undefined | Delay> {
    return new Promise((resolve, reject) => {
      const more = this.#stock.beginFilling(buckets, this.#options.clock.monotonic());
      this.#asking.push({ buckets, own, longestWait, more, resolve, reject });
      if (this.#asking.length === 1) setImmediate(() => void this.#send());
    });
  }

  async #send(): Promise<void> {
    const asking = this.#asking;
    this.#asking = [];
    const keys = asking.flatMap(({ buckets }) => buckets.map(({ key }) => PREFIX + key));
    const given = asking.flatMap(({ buckets, own, longestWait, more }) => [
      buckets.length,
      own,
      longestWait,
      more,
      ...buckets.map(({ perMinute }) => perMinute),
    ]);
    const asked = this.#options.clock.monotonic();
    try {
      const answer = await this.#client.plugboardTake(keys.length, ...keys, ...given);
      // All of it is read before any of it counts.
      const taken = takenIn(answer, asking);
      for (const [at, { buckets, more, resolve }] of asking.entries()) {
        const { delay, got } = taken[at] ?? { delay: undefined, got: 0 };
        if (more > 0) this.#stock.endFilling(buckets, got, asked);
        resolve(delay);
      }
      this.#tidier ??= this.#stock.isEmpty ? undefined : this.#tidyLater();
    } catch (error) {
      this.#stock.clear();
      for (const { reject } of asking) reject(error);
    }
  }

  #tidyLater(): Timer {
    return this.#options.clock.later(KEPT_MS, () => {
      const old = [...this.#stock.removeOld(this.#options.clock.monotonic())];
      if (old.length > 0 && this.#away === undefined) this.#giveBack(old);
      this.#tidier = this.#stock.isEmpty ? undefined : this.#tidyLater();
    });
  }

  #onFailed(error: unknown): void {
    if (this.#isClosed) return;
    // Each replica has its part of the limits now, and nothing besides.
    this.#stock.clear();
    const isRefused = isRefusal(error);
    if (error instanceof PlugboardError) {
      // What comes next on this connection may be the answer to something else.
      this.#cause = error;
      this.#client.disconnect(true);
    }
    const cause = isRefused ? error : (this.#cause ?? error);
    const why = whyAway(cause, "valkey", this.#options.valkey.isTls);
    const probe = this.#away?.probe ?? this.#options.clock.later(RETRY_MS, () => this.#probe());
    this.#away = { why, isRefused, probe };
  }

  #probe(): void {
    const again = (error: unknown): void => {
      this.#away = undefined;
      this.#onFailed(error);
    };
    const back = (): void => {
      this.#cause = undefined;
      this.#away = undefined;
    };
    this.#tryAll().then(back, again);
  }

  /** Rejects with the first failure. */
  async #tryAll(): Promise<void> {
    await this.#ask([PROBE], 0);
    numberIn(await this.#client.plugboardGiveBack(1, PREFIX + PROBE.key, 0), 0);
    await this.#underWay.probe();
  }
}

/** This user lacks a right to a command or a key. Within a script, versions say so in different words. */
function isRefusal(error: unknown): boolean {
  return /^NOPERM|^ERR The user executing the script can't|^ERR ACL failure/.test(
    errorMessage(error),
  );
}

interface Taken {
  delay: undefined | Delay;
  /** How many more of each. */
  got: number;
}

/** What each who has asked gets. Throws PROTOCOL for what the script never answers. */
function takenIn(
  answer: unknown,
  asking: readonly Pick<Asking, "buckets" | "longestWait" | "more">[],
): Taken[] {
  const numbers = Array.isArray(answer) ? (answer as unknown[]) : [];
  const expected = asking.reduce((sum, { buckets }) => sum + 2 + buckets.length, 0);
  numberIn(numbers.length - expected, 0);
  let from = 0;
  return asking.map(({ buckets, longestWait, more }) => {
    const isRefused = numberIn(numbers[from], 1) === 1;
    const got = numberIn(numbers[from + 1], more);
    const most = isRefused ? Infinity : longestWait;
    const waits = buckets.map((_, at) =>
      Math.min(numberIn(numbers[from + 2 + at], most), LONGEST_REFUSED_MS),
    );
    from += 2 + buckets.length;
    const isAtOnce = !isRefused && waits.every((wait) => wait === 0);
    return { delay: isAtOnce ? undefined : { isRefused, waits }, got };
  });
}
