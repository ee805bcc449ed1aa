// What a remote server sends as server-sent events.

import assert from "node:assert/strict";
import {
  readEvents,
  type StreamEvent,
  type StreamPosition,
} from "../../../src/core/upstream/transport/event-stream.ts";
import { inChunks, refusing, type Target } from "../target.ts";

const LARGEST_EVENT = 500;

export function eventStream(): Target {
  return {
    about: "server-sent events from a remote server",
    covers: ["core/upstream/transport/event-stream.ts"],
    seeds: () => [
      'event: message\nid: 7\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
      "data: one\ndata: two\r\ndata: three\r\r",
      ": keep-alive\n\nretry: 1500\nid:\n\nid: a\u0000b\n\n",
      "\uFEFFdata: bom\n\nevent: endpoint\ndata: /messages?session=1\n\n",
      `id: ${"i".repeat(2000)}\n\ndata: ${"x".repeat(LARGEST_EVENT + 1)}\n\n`,
      "data\ndata:\nunknown: field\n\ndata: \u{1f600}\n",
    ],
    words: ["\n", "\r", "\r\n", "\n\n", "data:", "id:", "event:", "retry:", ":", "\u{1f600}"],
    async run(input) {
      const whole = await read([input]);
      const cut = await read(inChunks(input));
      if (whole === "too large" || cut === "too large") {
        // An event that came whole has been held by nobody, so its size may be noticed in one way of cutting alone.
        assert.ok(input.length > LARGEST_EVENT, "nothing small is too large");
        return;
      }
      assert.deepEqual(cut, whole, "where a chunk ends does not matter");
      const text = new TextDecoder().decode(input);
      for (const { data } of whole.events) {
        assert.ok(
          data !== "" && data.split("\n").every((line) => text.includes(line)),
          "data is what was sent",
        );
      }
      assert.ok(whole.position.retryMs === undefined || Number.isInteger(whole.position.retryMs));
    },
  };
}

async function read(
  chunks: readonly Buffer[],
): Promise<"too large" | { events: StreamEvent[]; position: StreamPosition }> {
  const events: StreamEvent[] = [];
  const position: StreamPosition = {};
  const body = (async function* () {
    yield* chunks;
  })();
  const ended = await refusing(
    () => readEvents(body, LARGEST_EVENT, position, (event) => void events.push(event)),
    "MESSAGE_TOO_LARGE",
  );
  return "refused" in ended ? "too large" : { events, position: { ...position } };
}
