import { describe, expect, it, vi } from "vitest";
import { openBoard, serversOf } from "../../../../src/core/board/board.ts";
import type { Board } from "../../../../src/core/types/board.ts";
import { SharedLists } from "../../../../src/serve/gateway/replicas/shared-lists.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

describe("lists that several gateways share", () => {
  it("are told again after two seconds, however slow the server is that another gateway has told of", async () => {
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
    const toolsChange = async (): Promise<void> => {
      changes[0]?.();
      await clock.advance(20);
    };
    hear();
    await toolsChange();
    expect(publish).not.toHaveBeenCalled();
    await clock.advance(1980);
    await toolsChange();
    expect(publish).toHaveBeenCalledExactlyOnceWith("lists");
    lists.close();
    await board.close();
  });
});
