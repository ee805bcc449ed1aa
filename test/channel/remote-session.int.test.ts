import { expect, it } from "vitest";
import { RemoteSession, type RemoteSessionOptions } from "../../src/channel/remote-session.ts";
import type { Link } from "../../src/channel/link.ts";
import { silentLogger } from "../../src/model/logger.ts";
import { closeBoards, fixture, open, textOf } from "../support/boards.ts";
import { closeChannels, openChannel } from "../support/channels.ts";

closeBoards();
closeChannels();

function session(link: Link, options: Partial<RemoteSessionOptions> = {}): Promise<RemoteSession> {
  return RemoteSession.open(link, {
    agent: "main",
    options: { cwd: "/tmp" },
    logger: silentLogger,
    ...options,
  });
}

it("lists, finds and calls the tools of the gateway's board", async () => {
  const board = await open({ echo: fixture("echo") });
  const { connect, faces, channel } = await openChannel({ main: board });
  const remote = await session(await connect({ face: "call" }));
  expect(remote.tools().map(({ name }) => name)).toEqual(board.tools().map(({ name }) => name));
  expect(remote.status()).toMatchObject([{ name: "echo", state: { kind: "ready" } }]);
  expect(faces).toMatchObject([{ face: "call", agent: "main" }]);
  const tool = await remote.find("echo");
  const outcome = await remote.call(tool.name, { text: "over the wire" });
  expect(textOf(outcome)).toContain("over the wire");
  expect(channel).toMatchObject({ attachedCount: 1, inFlight: 0 });
});
