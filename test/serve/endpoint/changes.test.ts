// What clients hear of changes on the board.

import { describe, expect, it } from "vitest";
import { Changes } from "../../../src/serve/endpoint/changes.ts";
import type { BoardEvents } from "../../../src/core/types/events.ts";
import { Emitter } from "../../../src/util/emitter.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const ALL = { tools: true, prompts: true, resources: true, hasUri: () => false };
const NO_TOOLS: BoardEvents["tools"] = { added: [], removed: [], changed: [] };

function listen(uris: Record<string, string[]> = {}) {
  const clock = new ManualClock();
  const board = new Emitter<BoardEvents>(() => {});
  const on = board.on.bind(board);
  const changes = new Changes({ on }, clock, (server, uri) => uris[`${server} ${uri}`] ?? []);
  const add = (interests: Partial<typeof ALL> & { uris?: string[] } = {}): string[] => {
    const heard: string[] = [];
    const { uris: wanted = [], ...rest } = interests;
    changes.add({
      interests: { ...ALL, ...rest, hasUri: (uri) => wanted.includes(uri) },
      send: (message) => {
        const { method, params } = message as { method: string; params?: { uri?: string } };
        heard.push(params?.uri ?? method);
      },
    });
    return heard;
  };
  return { clock, board, changes, add };
}

describe("changes", () => {
  it("of a list that come in a burst are told once", async () => {
    const { clock, board, add } = listen();
    const heard = add();
    for (let each = 0; each < 100; each += 1) board.emit("tools", NO_TOOLS);
    board.emit("prompts", { server: "a" });
    expect(heard).toEqual([]);
    await clock.advance(20);
    expect(heard).toEqual([
      "notifications/tools/list_changed",
      "notifications/prompts/list_changed",
    ]);
    board.emit("tools", NO_TOOLS);
    await clock.advance(20);
    expect(heard).toHaveLength(3);
  });

  it("of the tools that only apps call are changes of the tools", async () => {
    const { clock, board, add } = listen();
    const heard = add();
    board.emit("appTools", NO_TOOLS);
    await clock.advance(20);
    expect(heard).toEqual(["notifications/tools/list_changed"]);
  });

  it("reach only those who want them", async () => {
    const { clock, board, add } = listen();
    const [tools, prompts] = [add({ prompts: false }), add({ tools: false })];
    board.emit("tools", NO_TOOLS);
    board.emit("prompts", { server: "a" });
    await clock.advance(20);
    expect(tools).toEqual(["notifications/tools/list_changed"]);
    expect(prompts).toEqual(["notifications/prompts/list_changed"]);
  });

  it("of a resource reach each client by the URI that it uses", () => {
    const { board, add } = listen({ "lib x:///a": ["x:///a", "plugboard://lib/x:///a"] });
    const [plain, prefixed, neither] = [
      add({ uris: ["x:///a"] }),
      add({ uris: ["plugboard://lib/x:///a"] }),
      add(),
    ];
    board.emit("resources", { server: "lib", change: "updated", uris: ["x:///a"] });
    expect([plain, prefixed, neither]).toEqual([["x:///a"], ["plugboard://lib/x:///a"], []]);
  });

  it("are not told after the end", async () => {
    const { clock, board, changes, add } = listen();
    const heard = add();
    board.emit("tools", NO_TOOLS);
    changes.close();
    await clock.advance(20);
    expect(heard).toEqual([]);
    expect(clock.next()).toBeUndefined();
  });
});
