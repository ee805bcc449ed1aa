import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { oneAtATime } from "../../../../src/serve/endpoint/http/one-at-a-time.ts";
import { eventually } from "../../../support/processes.ts";

/** A server that answers nothing by itself, and the requests that it was given. */
async function open() {
  const given: { path: string; reply: ServerResponse }[] = [];
  const server = createServer(
    oneAtATime((request, reply) => void given.push({ path: request.url ?? "", reply })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const client = (...paths: string[]): Socket => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    return socket;
  };
  return { given, client };
}

const paths = (given: readonly { path: string }[]): string[] => given.map(({ path }) => path);

it("each request of a connection waits for the answer to the one before, and other connections do not", async () => {
  const { given, client } = await open();
  const socket = client("/1", "/2", "/3");
  await eventually(() => given.length === 1);
  client("/other");
  await eventually(() => given.length === 2);
  expect(paths(given)).toEqual(["/1", "/other"]);
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += String(chunk)));
  given[0]?.reply.end("first");
  await eventually(() => given.length === 3);
  given[2]?.reply.end("second");
  await eventually(() => given.length === 4);
  given[3]?.reply.end("third");
  await eventually(() => answer.includes("third"));
  expect(paths(given)).toEqual(["/1", "/other", "/2", "/3"]);
  expect(answer).toMatch(/first[^]*second[^]*third/);
});

it("what waits is gone with its connection", async () => {
  const { given, client } = await open();
  const socket = client("/1", "/2");
  await eventually(() => given.length === 1);
  socket.destroy();
  const [first] = given;
  if (first !== undefined && !first.reply.closed) await once(first.reply, "close");
  client("/other");
  await eventually(() => given.length === 2);
  expect(paths(given)).toEqual(["/1", "/other"]);
});

it("a hundred wait on a connection, and with more it is cut off", async () => {
  const { given, client } = await open();
  const few = client(...Array.from({ length: 101 }, (_, at) => `/few/${at}`)).resume();
  const many = client(...Array.from({ length: 102 }, (_, at) => `/many/${at}`)).resume();
  await once(many, "close");
  for (let at = 0; at < 101; at += 1) {
    await eventually(() => given.some(({ path }) => path === `/few/${at}`));
    given.find(({ path }) => path === `/few/${at}`)?.reply.end();
  }
  expect(few.destroyed).toBe(false);
});
