// What a person changes in the page. No change happens by one request: the first shows exactly what would be started and
// how the file would differ, and names that by a hash; the second confirms the hash. What is then done is planned anew, and
// refused if it is no longer what was shown.

import { createHmac } from "node:crypto";
import type { z } from "zod";
import { PlugboardError, toPlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { Decisions } from "./decisions.ts";
import { checked } from "./method.ts";
import type { Visitor } from "./visitors.ts";
import type { Change, ChangePreview, ChangeShown } from "./wire.ts";

export interface PlannedChange {
  shown: ChangeShown;
  /** What has to be the same when it is confirmed, besides what is shown: the whole text of a file, a record. */
  basis?: unknown;
  /** Does what is shown, and nothing else. Resolves to what a person should know about how it went. */
  apply: () => Promise<string | undefined>;
}

/** How one kind of change is read and planned. */
interface ChangeKind<Input extends Change> {
  takes: z.ZodType<Input>;
  /** Changes nothing. Rejects with a PlugboardError for what cannot be done. */
  plan: (input: Input, visitor: Visitor) => Promise<PlannedChange>;
}

/** All that a gateway can change. What is missing in the table, it cannot. */
export type ChangeKinds = {
  readonly [Kind in Change["kind"]]?: ChangeKind<Extract<Change, { kind: Kind }>>;
};

export interface ChangesOptions {
  kinds: ChangeKinds;
  decisions: Pick<Decisions, "record">;
  clock: Clock;
  random: (bytes: number) => Buffer;
  /** Takes credentials out of what is shown. */
  redact: (text: string) => string;
}

/** How long a person may look at it. */
const LOOK_MS = 10 * 60_000;
const MOST = 64;
const MOST_OF_ONE = 16;
const KEY_BYTES = 32;

interface Shown {
  change: Change;
  nonce: string;
  until: number;
}

export class Changes {
  readonly #options: ChangesOptions;
  /** By the hash, the oldest first. */
  readonly #shown = new Map<string, Shown>();
  /** A hash says nothing about what a change holds: a secret that somebody typed may be short. */
  readonly #key: Buffer;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#key = options.random(KEY_BYTES);
  }

  /** Rejects with a PlugboardError for what is not known or cannot be done. */
  async preview(given: object, visitor: Visitor): Promise<ChangePreview> {
    const { clock, redact } = this.#options;
    const { change, planned } = await this.#plan(given, visitor);
    const { shown } = planned;
    const hash = this.#hashOf(change, planned, visitor);
    const until = clock.now() + LOOK_MS;
    this.#makeRoom(visitor.nonce);
    this.#shown.delete(hash);
    this.#shown.set(hash, { change, nonce: visitor.nonce, until });
    const diff = shown.diff.map((line) => ({ ...line, text: redact(line.text) }));
    const starts = shown.starts.map(({ name, lines }) => ({ name, lines: lines.map(redact) }));
    return { ...shown, starts, diff, hash, until };
  }

  /** One change at a time. Rejects if nothing was shown under the hash to this visitor, or if it would differ by now. */
  confirm(hash: string, visitor: Visitor): Promise<{ said?: string }> {
    const done = this.#last.catch(() => {}).then(() => this.#confirm(hash, visitor));
    this.#last = done;
    return done;
  }

  async #confirm(hash: string, visitor: Visitor): Promise<{ said?: string }> {
    const { clock, decisions } = this.#options;
    const found = this.#shown.get(hash);
    if (found === undefined || found.nonce !== visitor.nonce) throw notShown();
    this.#shown.delete(hash);
    if (found.until <= clock.now()) throw notShown();
    const { planned } = await this.#plan(found.change, visitor);
    if (this.#hashOf(found.change, planned, visitor) !== hash) throw isDifferent();
    const { summary, about } = planned.shown;
    try {
      const said = await planned.apply();
      await decisions.record(visitor, { decided: summary, ...about });
      return { ...(said !== undefined && { said }) };
    } catch (error) {
      const { code } = toPlugboardError(error, "SYSTEM_ERROR");
      await decisions.record(visitor, { decided: summary, ...about, failed: code });
      throw error;
    }
  }

  async #plan(
    given: object,
    visitor: Visitor,
  ): Promise<{ change: Change; planned: PlannedChange }> {
    const { kinds } = this.#options;
    const name = "kind" in given ? String(given.kind) : "";
    const kind = Object.hasOwn(kinds, name)
      ? (kinds[name as Change["kind"]] as ChangeKind<Change> | undefined)
      : undefined;
    if (kind === undefined) {
      const message = `this gateway cannot change '${oneLine(name, 100)}'`;
      const hint = "it has no configuration file that it could change";
      const hasKinds = Object.keys(kinds).length > 0;
      throw new PlugboardError("UNSUPPORTED", message, hasKinds ? {} : { hint });
    }
    const change = checked(kind.takes, given as JsonObject);
    return { change, planned: await kind.plan(change, visitor) };
  }

  /** Another visitor who looks at the same change has another hash: neither takes it away from the other. */
  #hashOf(change: Change, { shown, basis }: PlannedChange, { nonce }: Visitor): string {
    const text = canonicalJson({ change, shown, basis: basis ?? null, nonce });
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }

  #makeRoom(nonce: string): void {
    const now = this.#options.clock.now();
    for (const [hash, { until }] of this.#shown) if (until <= now) this.#shown.delete(hash);
    const own = [...this.#shown].filter(([, each]) => each.nonce === nonce);
    if (own.length >= MOST_OF_ONE) this.#shown.delete(own[0]?.[0] ?? "");
    const [oldest] = this.#shown.keys();
    if (oldest !== undefined && this.#shown.size >= MOST) this.#shown.delete(oldest);
  }
}

function notShown(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "nobody has looked at this change", {
    hint: "it was confirmed already, or was shown too long ago: look at it again",
  });
}

function isDifferent(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "this is no longer what you were shown", {
    hint: "the file, or something else that it depends on, has changed meanwhile: look at it again",
  });
}
