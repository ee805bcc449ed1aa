// What an attached board shows or keeps has none of the secrets that only the gateway knows.

import { afterEach, expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { SessionRedactor } from "../../../../src/core/board/session-redactor.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import type { Board } from "../../../../src/core/types/board.ts";
import type { SecretProvider } from "../../../../src/core/types/secret-provider.ts";
import { openAttachedBoard } from "../../../support/attached.ts";
import { fixture } from "../../../support/boards.ts";
import { closeChannels, openChannel, type TestChannel } from "../../../support/channels.ts";
import { expectNoProcesses } from "../../../support/processes.ts";

const agent = parseAgentConfig({
  servers: { echo: { ...fixture("echo"), env: { TOKEN: "secret://vault/token" } } },
});

const boards: Board[] = [];

afterEach(async () => {
  await Promise.all(boards.splice(0).map((board) => board.close()));
  expectNoProcesses();
});

closeChannels();

function vault(secret: string): { provider: SecretProvider; asked: () => number } {
  let asked = 0;
  const resolve = async (): Promise<string> => {
    asked += 1;
    return secret;
  };
  return { provider: { name: "vault", resolve }, asked: () => asked };
}

interface Gateway {
  board: Board;
  channel: TestChannel;
}

async function gateway(secret: string): Promise<Gateway> {
  const board = await openBoard(agent, { secretProviders: [vault(secret).provider] });
  boards.push(board);
  return { board, channel: await openChannel({ [agent.agentId]: board }) };
}

interface Attached {
  board: Board;
  redactor: SessionRedactor;
  asked: () => number;
}

async function attached(
  { channel }: Gateway,
  next?: () => TestChannel | undefined,
): Promise<Attached> {
  const { provider, asked } = vault("not-asked-for-here");
  const reattach = next && (async () => next());
  const options = { secretProviders: [provider], ...(reattach && { reattach }) };
  const board = await openAttachedBoard({ agent, channel, ...options });
  boards.push(board);
  const session = await board.openSession({ cwd: "/" });
  const redactor = new SessionRedactor();
  redactor.join(session.redactor);
  return { board, redactor, asked };
}

const FIRST = "open-sesame-open-sesame";
const SECOND = "abracadabra-abracadabra";

it("the gateway takes its secrets out of values and streams, and the command never has them", async () => {
  const { redactor, asked } = await attached(await gateway(FIRST));
  const value = { title: `use ${FIRST}`, rawInput: { [FIRST]: [1, FIRST, "harmless"] } };
  // This process does not know it.
  expect(redactor.value(value)).toBe(value);
  expect(await redactor.everywhere(value)).toEqual({
    title: "use [REDACTED]",
    rawInput: { "[REDACTED]": [1, "[REDACTED]", "harmless"] },
  });
  const harmless = { a: ["b"] };
  expect(await redactor.everywhere(harmless)).toBe(harmless);
  const stream = redactor.streamEverywhere();
  let told = "";
  for (const character of `it is ${FIRST}. open-`) told += await stream.push(character);
  expect(told).toBe("it is [REDACTED]. ");
  expect(await stream.end()).toBe("open-");
  expect(asked()).toBe(0);
});

it("the next gateway is asked when the first has gone", async () => {
  const first = await gateway(FIRST);
  const next: { gateway?: Gateway } = {};
  const { redactor } = await attached(first, () => next.gateway?.channel);
  await first.channel.channel.close();
  await first.board.close();
  const waiting = redactor.everywhere([FIRST, SECOND]);
  next.gateway = await gateway(SECOND);
  expect(await waiting).toEqual([FIRST, "[REDACTED]"]);
});

it("a command that runs the servers itself from now on knows their secrets itself", async () => {
  const first = await gateway(FIRST);
  const { board, redactor } = await attached(first);
  await first.channel.channel.close();
  await first.board.close();
  await board.call("echo/echo", { text: "hello" });
  expect(await redactor.everywhere("not-asked-for-here")).toBe("[REDACTED]");
});

it("a board that is closed while its gateway is gone does not wait for one", async () => {
  const first = await gateway(FIRST);
  const { board, redactor } = await attached(first, () => undefined);
  await board.close();
  await expect(redactor.everywhere(FIRST)).rejects.toMatchObject({ name: "PlugboardError" });
});
