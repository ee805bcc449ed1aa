import { describe, expect, it, vi } from "vitest";
import { openBoard, serversOf } from "../../../../src/core/board/board.ts";
import { SharedLists } from "../../../../src/serve/gateway/replicas/shared-lists.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

/** Longer than changes are gathered. */
const LATER_MS = 100;

describe("lists that several gateways share", () => {
  it("are told at once when they change, and once more after a burst", async () => {
    const { clock, told, changed, close } = await watched();
    changed("docs");
    expect(told()).toBe(1);
    for (const server of ["docs", "mail", "docs"]) changed(server);
    expect(told()).toBe(1);
    await clock.advance(20);
    expect(told()).toBe(2);
    await clock.advance(1000);
    expect(told()).toBe(2);
    await close();
  });

  it("are not told of again by whoever was told, however long the server takes", async () => {
    const { clock, told, changed, hear, answer, close } = await watched();
    hear();
    await clock.advance(60_000);
    changed("docs");
    await answer("docs");
    expect(told()).toBe(0);
    changed("docs");
    expect(told()).toBe(1);
    await close();
  });

  it("are told at once while another server's are asked for", async () => {
    const { clock, told, changed, hear, answer, close } = await watched();
    hear();
    await answer("mail");
    changed("mail");
    expect(told()).toBe(1);
    await clock.advance(LATER_MS);
    // Two messages: the second list is asked for while the first is under way.
    hear();
    await answer("docs");
    changed("docs");
    expect(told()).toBe(1);
    await answer("docs");
    await clock.advance(LATER_MS);
    changed("docs");
    expect(told()).toBe(2);
    await close();
  });

  it.each([
    ["before", ["said", "changed"]],
    ["after", ["changed", "said"]],
  ] as const)(
    "are told of once if the server says so itself, %s they were found to be others",
    async (_, order) => {
      const { clock, told, hear, answer, close, ...server } = await watched();
      hear();
      for (const what of order) {
        expect(told()).toBe(0);
        server[what]("docs");
      }
      expect(told()).toBe(1);
      await clock.advance(LATER_MS);
      server.changed("docs");
      await answer("docs");
      await clock.advance(LATER_MS);
      expect(told()).toBe(1);
      await close();
    },
  );

  it("do not go to and fro for a server that gives another one each time, whatever another server says", async () => {
    const { clock, told, changed, said, hear, answer, close } = await watched();
    for (let round = 0; round < 5; round += 1) {
      hear();
      changed("docs");
      said("mail");
      await answer("docs");
      await answer("mail");
      await clock.advance(LATER_MS);
    }
    expect(told()).toBe(0);
    await close();
  });
});

/** Lists of a board with two servers that answer when they are told to. */
async function watched() {
  const clock = new ManualClock();
  const board = await openBoard({ servers: {} });
  const servers = serversOf(board);
  let listener: Parameters<typeof servers.onLists>[0] = () => {};
  vi.spyOn(servers, "onLists").mockImplementation((given) => {
    listener = given;
    return () => {};
  });
  const asked: { server: string; answer: () => void }[] = [];
  vi.spyOn(servers, "listAgain").mockImplementation(() =>
    ["docs", "mail"].map((server) => ({
      server,
      listed: new Promise<void>((resolve) => asked.push({ server, answer: resolve })),
    })),
  );
  let hear = (): void => {};
  const publish = vi.fn<() => Promise<void>>(async () => {});
  const lists = new SharedLists({
    changes: {
      publish,
      subscribe: (_, heard) => {
        hear = heard;
        return () => {};
      },
    },
    clock,
  });
  lists.watch(board);
  return {
    clock,
    told: () => publish.mock.calls.length,
    changed: (server: string) => listener(server, "changed"),
    said: (server: string) => listener(server, "said"),
    hear: () => hear(),
    /** What was asked first is answered. */
    answer: async (server: string) => {
      const at = asked.findIndex((each) => each.server === server);
      asked.splice(at, 1)[0]?.answer();
      await clock.advance(0);
    },
    close: async () => {
      lists.close();
      await board.close();
    },
  };
}
