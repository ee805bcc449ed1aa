// Who hears what a server logs.

import { expect, it } from "vitest";
import { Client } from "../../../src/serve/endpoint/client.ts";
import { LogMessages } from "../../../src/serve/endpoint/log-messages.ts";
import type { BoardEvents, LogEvent } from "../../../src/core/types/events.ts";
import { Emitter } from "../../../src/util/emitter.ts";

function setUp(mayBeForOthers?: (server: string) => boolean) {
  const events = new Emitter<BoardEvents>(() => {});
  const board = {
    on: events.on.bind(events),
    setLogLevel: () => {},
  };
  const logs = new LogMessages(board, () => false, mayBeForOthers);
  const heard: string[] = [];
  const join = (name: string): { call: string } => {
    const client = new Client({
      era: "legacy",
      caller: { id: `token:${name}`, label: name },
      profile: { protocolVersion: "2025-11-25", capabilities: {} },
      send: () => heard.push(name),
      canBeAsked: true,
    });
    logs.add(client);
    logs.restore(client, "info");
    const exchange = client.begin({ id: 1, method: "tools/call", params: {} }, () => {});
    return { call: exchange?.callId ?? "" };
  };
  const log = (message: Partial<LogEvent>): void =>
    events.emit("log", { server: "one", level: "info", data: "text", ...message });
  return { join, log, heard };
}

it.each<[string, (calls: { ann: string; bob: string }) => Partial<LogEvent>, string[]]>([
  [
    "a message about a call goes to the client that made it",
    ({ ann }) => ({ callId: ann }),
    ["ann"],
  ],
  ["to nobody else, however alike the ids are", ({ bob }) => ({ callId: `${bob}0` }), ["bob"]],
  ["a message about a call of another endpoint to nobody", () => ({ callId: "client-0-1" }), []],
  ["a message about no call to all who want its level", () => ({}), ["ann", "bob"]],
  ["a message below the level to nobody", () => ({ level: "debug" }), []],
])("%s", (_, message, expected) => {
  const { join, log, heard } = setUp();
  log(message({ ann: join("ann").call, bob: join("bob").call }));
  expect(heard).toEqual(expected);
});

it("a message that may be about somebody else's call goes to nobody", () => {
  const { join, log, heard } = setUp((server) => server === "shared");
  const { call } = join("ann");
  log({ server: "shared" });
  expect(heard).toEqual([]);
  log({ server: "own" });
  log({ server: "shared", callId: call });
  expect(heard).toEqual(["ann", "ann"]);
});
