// The stream of events over real sockets: what a reader gets first, what it gets when it comes back, and how a reader
// that does not read is cut off.

import { createServer } from "node:http";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { GatewayEvents } from "../../../../src/serve/gateway/monitoring/events.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { deferred } from "../../../../src/util/deferred.ts";

interface Read {
  id?: string;
  event: string;
  data: Record<string, unknown>;
}

async function open(run = "run") {
  let state = 0;
  const events = new GatewayEvents({
    clock: systemClock,
    run,
    snapshot: () => ({ state: (state += 1) }),
  });
  const cutOff = deferred();
  const server = createServer((request, reply) => {
    reply.once("close", () => cutOff.resolve());
    events.open(request, reply, request.url ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    events.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  /** Reads `count` events, then hangs up. */
  const read = async (count: number, lastId?: string, onFirst = () => {}): Promise<Read[]> => {
    const hangUp = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      signal: hangUp.signal,
      headers: lastId === undefined ? {} : { "last-event-id": lastId },
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      if (text === "") onFirst();
      text += decoder.decode(chunk, { stream: true });
      if (parse(text).length >= count) break;
    }
    hangUp.abort();
    return parse(text).slice(0, count);
  };
  return { events, port, read, cutOff: cutOff.promise };
}

function parse(text: string): Read[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => block.includes("event: "))
    .map((block) => {
      const line = (name: string): string | undefined =>
        new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
      const id = line("id");
      return {
        ...(id !== undefined && { id }),
        event: line("event") ?? "",
        data: JSON.parse(line("data") ?? "{}"),
      };
    });
}

describe("the events", () => {
  it("about one thing do not pile up: the last one is kept, and those of others stay", async () => {
    const { events, read } = await open();
    const [first] = await read(1);
    events.add("other", { at: "before" });
    for (let at = 0; at < 1000; at += 1) {
      events.add("waiting", { at, text: "x".repeat(100_000) }, { about: "waiting" });
    }
    events.add("end", {});
    const kept = await read(3, first?.id);
    expect(kept.map(({ event, data }) => [event, data["at"]])).toEqual([
      ["other", "before"],
      ["waiting", 999],
      ["end", expect.anything()],
    ]);
  });

  it("begin with a snapshot; what comes then has ids in a row, and what was before any reader has none", async () => {
    const { events, read } = await open();
    events.add("call", { tool: "earlier" });
    const read3 = await read(3, undefined, () => {
      events.add("call", { tool: "a" });
      events.add("server", { server: "s" });
    });
    expect(read3).toMatchObject([
      { id: "run-0", event: "snapshot", data: { state: 1 } },
      { id: "run-1", event: "call", data: { tool: "a" } },
      { id: "run-2", event: "server", data: { server: "s" } },
    ]);
  });

  it("go on where a reader stopped, without what it has seen", async () => {
    const { events, read } = await open();
    const [snapshot] = await read(1);
    for (const tool of ["a", "b", "c"]) events.add("call", { tool });
    const missed = await read(3, snapshot?.id);
    expect(missed.map(({ id, data }) => [id, data["tool"]])).toEqual([
      ["run-1", "a"],
      ["run-2", "b"],
      ["run-3", "c"],
    ]);
    expect(await read(1, "run-2")).toMatchObject([{ id: "run-3", data: { tool: "c" } }]);
  });

  it("say how many a reader has lost, give the rest, and then the state", async () => {
    const { events, read } = await open();
    await read(1);
    for (let at = 1; at <= 5000; at += 1) events.add("call", { at });
    const all = await read(4098, "run-100");
    expect(all[0]).toEqual({ event: "gap", data: { lost: 804 } });
    expect(all[1]).toMatchObject({ id: "run-905" });
    expect(all[4096]).toMatchObject({ id: "run-5000" });
    expect(all[4097]).toMatchObject({ id: "run-5000", event: "snapshot" });
  });

  it("take bounded memory by their size, too; replaced ones no longer count", async () => {
    const { events, read } = await open();
    await read(1);
    const size = 1024 * 1024;
    for (let at = 1; at <= 20; at += 1) events.add("lines", { at }, { size });
    for (let at = 21; at <= 40; at += 1) events.add("server", { at }, { size, about: "one" });
    const all = await read(9, "run-1");
    expect(all.map(({ event, id }) => [event, id])).toEqual([
      ["gap", undefined],
      ...[14, 15, 16, 17, 18, 19, 20].map((at) => ["lines", `run-${at}`]),
      ["server", "run-40"],
    ]);
    expect(all[0]?.data).toEqual({ lost: 12 });
    // One that is larger than all of them together may be is still told.
    events.add("huge", {}, { size: 100 * size });
    expect(await read(1, "run-40")).toMatchObject([{ event: "huge", id: "run-41" }]);
  });

  it.each(["earlier-7", "run-99", "run-", "run-x", "", "7", "run-1e1"])(
    "begin anew for a reader that comes with the id %j",
    async (id) => {
      const { events, read } = await open();
      await read(1);
      events.add("call", {});
      expect(await read(2, id)).toMatchObject([
        { event: "gap", data: {} },
        { id: "run-1", event: "snapshot" },
      ]);
    },
  );

  it("cut off a reader that does not read, and others go on", async () => {
    const { events, port, read, cutOff } = await open();
    const lazy = connect(port, "127.0.0.1");
    lazy.on("error", () => {});
    lazy.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => lazy.once("readable", resolve));
    const text = "x".repeat(100_000);
    const flood = setInterval(() => events.add("notice", { text }), 1);
    onTestFinished(() => {
      clearInterval(flood);
      lazy.destroy();
    });
    await cutOff;
    clearInterval(flood);
    events.add("call", {});
    expect(await read(1)).toMatchObject([{ event: "snapshot" }]);
  });

  it("refuse more than a few dozen readers, of whom no caller is more than a quarter", async () => {
    const { port, read } = await open();
    const sockets: Socket[] = [];
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    const refusal = async (caller: string): Promise<unknown[]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${caller}`);
      return [answer.status, await answer.text()];
    };
    for (const caller of ["/a", "/b", "/c", "/d"]) {
      for (let reader = 0; reader < 8; reader += 1) {
        const socket = connect(port, "127.0.0.1");
        sockets.push(socket);
        socket.write(`GET ${caller} HTTP/1.1\r\nHost: x\r\n\r\n`);
        expect(String((await once(socket, "data"))[0])).toContain("200 OK");
      }
      const own = "there are already 8 readers of this caller of the events\n";
      expect(await refusal(caller)).toEqual([429, own]);
    }
    expect(await refusal("/")).toEqual([503, "there are already 32 readers of the events\n"]);
    sockets.pop()?.destroy();
    await expect.poll(async () => (await read(1).catch(() => [])).length).toBe(1);
  });
});
