import { describe, expect, it, vi } from "vitest";
import { openBoard, serversOf } from "../../../../src/core/board/board.ts";
import type { Board } from "../../../../src/core/types/board.ts";
import { SharedLists } from "../../../../src/serve/gateway/replicas/shared-lists.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("lists that several gateways share", () => {
  it("are told again after two seconds, however slow the server is that another gateway has told of", async () => {
    const { clock, publish, toolsChange, hear, close } = await watched();
    hear();
    toolsChange();
    await clock.advance(20);
    expect(publish).not.toHaveBeenCalled();
    await clock.advance(1980);
    toolsChange();
    expect(publish).toHaveBeenCalledExactlyOnceWith("lists");
    await close();
  });

  it("are told at once when they change, and once more after a burst", async () => {
    const { clock, publish, toolsChange, close } = await watched();
    toolsChange();
    expect(publish).toHaveBeenCalledTimes(1);
    for (let more = 0; more < 3; more += 1) toolsChange();
    expect(publish).toHaveBeenCalledTimes(1);
    await clock.advance(20);
    expect(publish).toHaveBeenCalledTimes(2);
    await clock.advance(1000);
    expect(publish).toHaveBeenCalledTimes(2);
    await close();
  });
});

/** Lists of a board whose servers are never done with listing. */
async function watched() {
  const clock = new ManualClock();
  const board = await openBoard({ servers: {} });
  const changes: (() => void)[] = [];
  vi.spyOn(board, "on").mockImplementation(((_, listener: () => void) => {
    changes.push(listener);
    return () => {};
  }) as Board["on"]);
  vi.spyOn(serversOf(board), "listAgain").mockReturnValue(new Promise(() => {}));
  let hear = (): void => {};
  const publish = vi.fn<() => Promise<void>>(async () => {});
  const lists = new SharedLists({
    changes: {
      publish,
      subscribe: (_, listener) => {
        hear = listener;
        return () => {};
      },
    },
    clock,
  });
  lists.watch(board);
  return {
    clock,
    publish,
    toolsChange: () => changes[0]?.(),
    hear: () => hear(),
    close: async () => {
      lists.close();
      await board.close();
    },
  };
}
