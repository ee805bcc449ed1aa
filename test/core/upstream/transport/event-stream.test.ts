import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import {
  readEvents,
  type StreamEvent,
  type StreamPosition,
} from "../../../../src/core/upstream/transport/event-stream.ts";
import { settle } from "../../../support/manual-clock.ts";

async function* stream(...chunks: (string | Buffer)[]): AsyncGenerator<Buffer, undefined> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

async function* broken(...chunks: string[]): AsyncGenerator<Buffer, undefined> {
  yield* stream(...chunks);
  throw new PlugboardError("NETWORK", "the connection was reset");
}

function start(): StreamPosition {
  return { lastId: undefined, retryMs: undefined };
}

async function read(body: AsyncIterable<Buffer>, maxBytes = 1024) {
  const events: StreamEvent[] = [];
  const position = start();
  const error = await readEvents(body, maxBytes, position, (event) => void events.push(event)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { events, position, error };
}

describe("events", () => {
  it.each<[string, string, StreamEvent[]]>([
    ["one", "data: hi\n\n", [{ name: "message", data: "hi" }]],
    ["one with a name", "event: endpoint\ndata: /m\n\n", [{ name: "endpoint", data: "/m" }]],
    ["one of several lines", "data: a\ndata: b\n\n", [{ name: "message", data: "a\nb" }]],
    ["one with other line ends", "data: a\r\n\r\n", [{ name: "message", data: "a" }]],
    [
      "several",
      "data: 1\n\ndata: 2\n\n",
      [
        { name: "message", data: "1" },
        { name: "message", data: "2" },
      ],
    ],
    ["none in comments", ": still here\n\n", []],
    ["none in an event without data", "id: 1\ndata:\n\n", []],
    ["none that is not complete", "data: half", []],
    ["none in nothing", "", []],
  ])("%s", async (_, text, events) => {
    expect(await read(stream(text))).toMatchObject({ events, error: undefined });
  });

  it.each(["\n", "\r\n", "\r"])("end with %j, wherever the bytes are cut", async (end) => {
    const text = ["id: 7", "data: one", "data: two", "", "data: three", "", ": more"].join(end);
    const expected = { events: ["one\ntwo", "three"], lastId: "7" };
    for (let at = 0; at <= text.length; at += 1) {
      const { events, position } = await read(stream(text.slice(0, at), text.slice(at)));
      expect({ events: events.map(({ data }) => data), lastId: position.lastId }).toEqual(expected);
    }
  });

  it("are complete wherever the bytes are cut", async () => {
    const text = Buffer.from("data: grüße 🙂\n\ndata: zwei\n\n");
    const bytes = Array.from(text, (byte) => Buffer.from([byte]));
    const { events } = await read(stream(...bytes));
    expect(events.map(({ data }) => data)).toEqual(["grüße 🙂", "zwei"]);
  });

  it("are given as they come, not when the stream ends", async () => {
    const seen: string[] = [];
    async function* body(): AsyncGenerator<Buffer, undefined> {
      yield Buffer.from("data: first\n\n");
      seen.push("asked for more");
      yield Buffer.from("data: second\n\n");
    }
    await readEvents(body(), 1024, start(), ({ data }) => void seen.push(data));
    expect(seen).toEqual(["first", "asked for more", "second"]);
  });

  it("are read no further until the last ones were taken", async () => {
    const seen: string[] = [];
    async function* body(): AsyncGenerator<Buffer, undefined> {
      yield Buffer.from("data: first\n\ndata: second\n\n");
      seen.push("asked for more");
    }
    await readEvents(body(), 1024, start(), async ({ data }) => {
      await settle();
      seen.push(`${data} taken`);
    });
    expect(seen).toEqual(["first taken", "second taken", "asked for more"]);
  });
});

describe("the position", () => {
  it.each<[string, string, StreamPosition]>([
    ["is unknown where the server gives none", "data: a\n\n", start()],
    ["is the last id", "id: 1\ndata: a\n\nid: 2\ndata: b\n\n", { lastId: "2", retryMs: undefined }],
    [
      "stays where an event has no id",
      "id: 1\ndata: a\n\ndata: b\n\n",
      { lastId: "1", retryMs: undefined },
    ],
    [
      "is known from an event without data",
      "id: first\ndata:\n\n",
      { lastId: "first", retryMs: undefined },
    ],
    [
      "is known from an event without even a line of data",
      "data: a\n\nid: 3\n\n",
      { lastId: "3", retryMs: undefined },
    ],
    [
      "is not looked for in the data",
      "id: 1\ndata: id: 2\ndata:id: 3\n\n",
      { lastId: "1", retryMs: undefined },
    ],
    [
      "does not count an event that was cut: it is what must be sent again",
      "id: 1\ndata: a\n\nid: 2\ndata: b",
      { lastId: "1", retryMs: undefined },
    ],
    ["has the server's wish to wait", "retry: 2500\n\n", { lastId: undefined, retryMs: 2500 }],
    ["has no wish that is no number", "retry: soon\n\n", start()],
  ])("%s", async (_, text, position) => {
    expect((await read(stream(text))).position).toEqual(position);
  });

  it("is known when the stream breaks, and so is the error", async () => {
    const { events, position, error } = await read(broken("id: 7\ndata: a\n\ndata: b"));
    expect(events).toEqual([{ name: "message", data: "a" }]);
    expect(position.lastId).toBe("7");
    expect(error).toMatchObject({ code: "NETWORK" });
  });

  it("is whole wherever the bytes are cut", async () => {
    const bytes = Array.from(Buffer.from("id: grüße\r\ndata: a\r\n\r\n"), (byte) =>
      Buffer.from([byte]),
    );
    expect((await read(stream(...bytes))).position.lastId).toBe("grüße");
  });

  it("continues from an earlier stream", async () => {
    const position: StreamPosition = { lastId: "41", retryMs: 100 };
    await readEvents(stream("data: a\n\n"), 1024, position, () => {});
    expect(position).toEqual({ lastId: "41", retryMs: 100 });
  });
});

describe("bounds", () => {
  it("an event above the limit ends the reading, before it is complete", async () => {
    const { events, error } = await read(stream("data: ", "x".repeat(60), "x".repeat(60)), 100);
    expect(events).toEqual([]);
    expect(error).toMatchObject({
      code: "MESSAGE_TOO_LARGE",
      message: "the server sent a message of more than 100 B (maxMessageBytes)",
      hint: expect.stringContaining('raise "maxMessageBytes"'),
    });
  });

  it("a stream of small events may have any length", async () => {
    const { events, error } = await read(stream(...Array<string>(1000).fill("data: 0123\n\n")), 32);
    expect(error).toBeUndefined();
    expect(events).toHaveLength(1000);
  });

  it("a listener's own error ends the reading", async () => {
    const reading = readEvents(stream("data: a\n\n"), 1024, start(), () => {
      throw new PlugboardError("PROTOCOL", "not JSON");
    });
    await expect(reading).rejects.toMatchObject({ code: "PROTOCOL" });
  });
});

describe("what must not be mistaken", () => {
  it("a CRLF that is cut for a blank line", async () => {
    const { position } = await read(stream("id: 1\r\ndata: a\r\n\r\nid: 2\r", "\ndata: b"));
    expect(position.lastId).toBe("1");
  });

  it("many small events in one chunk for a large one", async () => {
    const { events, error } = await read(stream("data: 0123\n\n".repeat(20)), 100);
    expect(error).toBeUndefined();
    expect(events).toHaveLength(20);
  });

  it("comments that keep the stream alive for an event that grows", async () => {
    const { error } = await read(stream(...Array<string>(50).fill(": ping\n\n")), 100);
    expect(error).toBeUndefined();
  });

  it("a byte order mark for a part of the first event", async () => {
    expect((await read(stream("\uFEFFdata: a\n\n"))).events).toHaveLength(1);
  });

  it("an empty id for one to come back to", async () => {
    expect(
      (await read(stream("id: 1\ndata: a\n\nid:\ndata: b\n\n"))).position.lastId,
    ).toBeUndefined();
  });
});
