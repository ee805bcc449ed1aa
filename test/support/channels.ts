// A gateway's channel in front of boards of a test, and commands that connect to it. All closed at the end of each test.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach } from "vitest";
import {
  type ChannelAddress,
  connectChannel,
  type CommandInfo,
} from "../../src/serve/attach/greeting.ts";
import type { Link } from "../../src/serve/attach/link.ts";
import {
  type ChannelHost,
  serveChannel,
  type ServedChannel,
} from "../../src/serve/attach/gateway/serve-channel.ts";
import type { Board } from "../../src/core/types/board.ts";
import { type Clock, systemClock } from "../../src/util/clock.ts";
import { recordingLogger } from "./logger.ts";

const open: (() => Promise<void>)[] = [];

/** To be called once at the top of a suite, after `closeBoards`, so that channels close before their boards. */
export function closeChannels(): void {
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}

/** The same for a suite whose tests share a channel. */
export function closeChannelsAfterAll(): void {
  afterAll(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}

export interface TestChannel {
  address: ChannelAddress;
  channel: ServedChannel;
  logger: ReturnType<typeof recordingLogger>;
  /** Who is attached now. */
  commands: (CommandInfo & { agent: string })[];
  connect: (command?: Partial<CommandInfo>) => Promise<Link>;
}

export async function openChannel(
  boards: Record<string, Board>,
  given: Partial<ChannelHost> & { clock?: Clock; address?: ChannelAddress } = {},
): Promise<TestChannel> {
  const { clock = systemClock, address = newAddress(), ...host } = given;
  const logger = recordingLogger();
  const commands: TestChannel["commands"] = [];
  const channel = await serveChannel({
    ...address,
    clock,
    logger,
    host: {
      boardOf: async (agent) => boards[agent],
      reload: async () => ({ added: [], changed: [], removed: [], unchanged: [] }),
      stop: () => {},
      pageLink: async (role) => `http://127.0.0.1:1/ui/#k=${role}`,
      status: () => ({ name: "test" }),
      logs: { lines: () => [], listen: () => () => {} },
      attached: (command) => {
        commands.push(command);
        return () => void commands.splice(commands.indexOf(command), 1);
      },
      ...host,
    },
  });
  open.push(() => channel.close());
  const connect: TestChannel["connect"] = async (command = {}) => {
    const info = { command: "test", pid: process.pid, cwd: process.cwd(), ...command };
    const link = await connectChannel(address, info, { clock: systemClock });
    open.push(async () => link.close());
    return link;
  };
  return { address, channel, logger, commands, connect };
}

/** The links that one command opens to a channel. */
export function counted(
  { address, connect }: TestChannel,
  command?: Partial<CommandInfo>,
): {
  channel: Pick<TestChannel, "address" | "connect">;
  links: Link[];
} {
  const links: Link[] = [];
  const connectCounted: TestChannel["connect"] = async () => {
    const link = await connect(command);
    links.push(link);
    return link;
  };
  return { channel: { address, connect: connectCounted }, links };
}

/** An address that nobody uses, in a directory that is gone after the test. */
export function newAddress(): ChannelAddress {
  const directory = mkdtempSync(join(tmpdir(), "plugboard-channel-"));
  open.push(async () => rmSync(directory, { recursive: true, force: true }));
  return { path: join(directory, "gateway.sock"), key: randomBytes(16).toString("hex") };
}
