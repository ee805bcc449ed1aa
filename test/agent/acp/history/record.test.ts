// What is on disk while text is streamed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { textBlock } from "../../../../src/agent/acp/wire/content.ts";
import { History } from "../../../../src/agent/acp/history/history.ts";
import type { SessionRecord } from "../../../../src/agent/acp/history/record.ts";
import { SessionRedactor } from "../../../../src/core/board/session-redactor.ts";
import { Redactor } from "../../../../src/core/redaction/redactor.ts";
import type { RedactorElsewhere } from "../../../../src/core/types/redactor.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const SECRET = "hunter2-hunter2-hunter2";
let directory = "";
let clock: ManualClock;
let record: SessionRecord;

beforeEach(async () => {
  directory = temporaryDirectory();
  clock = new ManualClock();
  const redactor = new SessionRedactor();
  redactor.hide([{ kind: "stdio", command: "server", args: [], env: { API_TOKEN: SECRET } }]);
  record = await new History(directory, clock).record("s", "/", redactor);
});

afterEach(async () => {
  await record.close();
});

const stream = (text: string, kind: "message" | "thought" = "message"): void =>
  record.add({ sessionUpdate: `agent_${kind}_chunk`, content: textBlock(text) });

/** The texts of all lines but the first. */
const written = (): string[] =>
  readFileSync(join(directory, "s.jsonl"), "utf8")
    .split("\n")
    .slice(1, -1)
    .map(
      (line) => (JSON.parse(line) as { update: { content: { text: string } } }).update.content.text,
    );

describe("a stream", () => {
  it("is one line if it ends soon", async () => {
    stream("one ");
    stream("two");
    stream("hm", "thought");
    await record.flush();
    expect(written()).toEqual(["one two", "hm"]);
    expect(clock.next()).toBeUndefined();
  });

  it("is written every second", async () => {
    stream("one ");
    await clock.advance(999);
    stream("two ");
    await clock.advance(1);
    await eventually(() => written().length === 1);
    stream("three");
    await clock.advance(1000);
    await eventually(() => written().length === 2);
    await record.flush();
    expect(written()).toEqual(["one two ", "three"]);
  });

  it("is written at once if there is much of it", async () => {
    stream("x".repeat(8191));
    stream("yz");
    await eventually(() => written().length === 1);
    expect(written()).toEqual([`${"x".repeat(8191)}yz`]);
    expect(clock.next()).toBeUndefined();
  });

  it("can be written out at any time, and continues", async () => {
    stream("one ");
    await record.catchUp();
    expect(written()).toEqual(["one "]);
    await record.catchUp();
    stream("two");
    await record.flush();
    expect(written()).toEqual(["one ", "two"]);
    expect(clock.next()).toBeUndefined();
  });

  it("has no secret in it then either", async () => {
    for (const letter of `say ${SECRET}!`) {
      stream(letter);
      await record.catchUp();
    }
    await record.flush();
    expect(written().join("")).toBe("say [REDACTED]!");
  });

  it("never has a secret in it, wherever it is cut", async () => {
    for (const letter of `say ${SECRET}, ${SECRET.slice(0, 9)}`) {
      stream(letter);
      await clock.advance(1000);
    }
    await record.flush();
    expect(written().join("")).toBe(`say [REDACTED], ${SECRET.slice(0, 9)}`);
    expect(readFileSync(join(directory, "s.jsonl"), "utf8")).not.toContain(SECRET);
  });
});

it("reports once that it cannot be written, and the session continues", async () => {
  const failures: unknown[] = [];
  const failing = await new History(directory, clock).record(
    "f",
    "/",
    new SessionRedactor(),
    (error) => failures.push(error),
  );
  await failing.close();
  failing.write({ model: "a" });
  failing.write({ model: "b" });
  await failing.flush();
  expect(failures).toHaveLength(1);
  expect(failures[0]).toBeInstanceOf(Error);
});

describe("what only a gateway can redact", () => {
  const REMOTE = "open-sesame-open-sesame";

  /** A gateway that knows one secret, and answers a turn of the event loop later. */
  const gateway = new Redactor();
  gateway.add(REMOTE);
  const elsewhere: RedactorElsewhere = {
    texts: async (texts) => {
      await setImmediate();
      return texts.map((text) => gateway.text(text));
    },
    beginning: async (text, covered, isEnd) => {
      await setImmediate();
      return gateway.beginning(text, covered, isEnd);
    },
  };

  const attach = async (given: RedactorElsewhere, onFailure?: () => void): Promise<void> => {
    await record.close();
    const redactor = new SessionRedactor();
    const board = new Redactor();
    board.elsewhere = given;
    redactor.join(board);
    record = await new History(directory, clock).record("s", "/", redactor, onFailure);
  };

  it("is not in what a person typed, nor in what a model repeats in pieces", async () => {
    await attach(elsewhere);
    record.add({ sessionUpdate: "user_message_chunk", content: textBlock(`use ${REMOTE}`) });
    for (const character of `it is ${REMOTE}, and open-`) {
      stream(character);
      await record.catchUp();
    }
    await record.flush();
    expect(written()[0]).toBe("use [REDACTED]");
    expect(written().slice(1).join("")).toBe("it is [REDACTED], and open-");
  });

  it("is not in what is written after a second", async () => {
    await attach(elsewhere);
    stream(`it is ${REMOTE.slice(0, 9)}`);
    await clock.advance(1000);
    await eventually(() => written().length === 1);
    stream(REMOTE.slice(9));
    await record.flush();
    expect(written()).toEqual(["it is ", "[REDACTED]"]);
  });

  it("ends the record if the gateway cannot be asked", async () => {
    let failures = 0;
    const reject = async (): Promise<never> => Promise.reject(new Error("gone"));
    await attach({ texts: reject, beginning: reject }, () => (failures += 1));
    stream(REMOTE);
    await record.flush();
    record.add({ sessionUpdate: "user_message_chunk", content: textBlock(REMOTE) });
    await record.flush();
    expect([written(), failures]).toEqual([[], 1]);
  });
});
