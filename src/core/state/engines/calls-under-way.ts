// How many calls are under way at a time, counted by all replicas together in Valkey. Each call has a row with a time: the process that
// makes the call puts it off again and again, so that the calls of a process that was killed stop counting.

import { randomUUID } from "node:crypto";
import type { Leave } from "../../types/shared-state.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { numberIn, type ValkeyClient } from "./valkey.ts";

/** Begins the keys. In a cluster they are where the limits are. */
const PREFIX = "{plugboard}:calls:";
/** How long a call counts without a sign of life. */
const CALL_MS = 30_000;
const RENEW_MS = 10_000;
/** For the call that `probe` makes to see which commands are allowed: how long it counts, and a limit that it never reaches. */
const PROBE_MS = 1000;
const PROBE_MOST = 1_000_000;

/** KEYS: the calls. ARGV: how many there may be, how long one counts, and the name of the one that begins. */
const ENTER = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`;

/** KEYS: the calls. ARGV: how long they go on counting, then their names. One that has ended does not come back. */
const STAY = `
local time = redis.call('TIME')
local until_ = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
for at, key in ipairs(KEYS) do
  redis.call('ZADD', key, 'XX', until_, ARGV[at + 1])
  redis.call('PEXPIRE', key, ARGV[1])
end
return 0
`;

export class CallsUnderWay {
  readonly #client: ValkeyClient;
  readonly #clock: Pick<Clock, "later">;
  readonly #onFailed: (error: unknown) => void;
  /** The calls of this process: the key of each, by its name. */
  readonly #own = new Map<string, string>();
  #renewer: Timer | undefined;

  /** `onFailed` hears of what nobody waits for. */
  constructor(
    client: ValkeyClient,
    clock: Pick<Clock, "later">,
    onFailed: (error: unknown) => void,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#onFailed = onFailed;
    client.defineCommand("plugboardEnter", { lua: ENTER });
    client.defineCommand("plugboardStay", { lua: STAY });
  }

  /** Undefined if there are as many already. Rejects if Valkey does not answer. */
  async enter(limited: string, most: number): Promise<Leave | undefined> {
    const key = PREFIX + limited;
    const name = randomUUID();
    const answer = await this.#client.plugboardEnter(1, key, most, CALL_MS, name);
    if (numberIn(answer, 1) === 0) return undefined;
    this.#own.set(name, key);
    this.#renewer ??= this.#renewLater();
    return () => {
      if (!this.#own.delete(name)) return;
      // If this fails, the call stops counting half a minute later.
      this.#client
        .zrem(key, name)
        .then((removed) => numberIn(removed, 1))
        .catch(this.#onFailed);
    };
  }

  /** Rejects if a call could not enter, stay or leave: a user may have the right to some of that alone. */
  async probe(): Promise<void> {
    const [key, name] = [`${PREFIX}probe`, randomUUID()];
    numberIn(await this.#client.plugboardEnter(1, key, PROBE_MOST, PROBE_MS, name), 1);
    numberIn(await this.#client.plugboardStay(1, key, PROBE_MS, name), 0);
    numberIn(await this.#client.zrem(key, name), 1);
  }

  close(): void {
    this.#renewer?.cancel();
  }

  #renewLater(): Timer {
    return this.#clock.later(RENEW_MS, () => {
      const names = [...this.#own.keys()];
      const keys = [...this.#own.values()];
      this.#renewer = names.length > 0 ? this.#renewLater() : undefined;
      if (names.length === 0) return;
      this.#client
        .plugboardStay(keys.length, ...keys, CALL_MS, ...names)
        .then((answer) => numberIn(answer, 0))
        .catch(this.#onFailed);
    });
  }
}
