import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  Connections,
  MOST_STRANGERS,
  STRANGER_MS,
} from "../../../src/serve/gateway/connections.ts";

function open(connections: Connections, count: number, now = 0): Socket[] {
  const sockets = Array.from({ length: count }, () => new Socket());
  for (const socket of sockets) connections.accepted(socket, now);
  return sockets;
}

describe("connections on which nobody was let in", () => {
  it("are cut off after a while, and the others stay", () => {
    const connections = new Connections({ most: 10, behindProxy: false });
    const [stranger, caller] = open(connections, 2);
    const [late] = open(connections, 1, STRANGER_MS - 1);
    if (caller !== undefined) connections.admit(caller, "token:a");
    connections.sweep(STRANGER_MS);
    const isGone = [stranger, caller, late].map((socket) => socket?.destroyed);
    expect(isGone).toEqual([true, false, false]);
  });

  it("make room for new ones, the oldest first", () => {
    const connections = new Connections({ most: 10, behindProxy: false });
    const sockets = open(connections, MOST_STRANGERS + 2);
    const gone = sockets.filter(({ destroyed }) => destroyed);
    expect(gone).toEqual(sockets.slice(0, 2));
  });
});

it("behind a proxy, whose connections are for everybody, one caller may be the first on all of them", () => {
  const connections = new Connections({ most: 4, behindProxy: true });
  const sockets = open(connections, 5);
  expect(sockets.map((socket) => connections.admit(socket, "token:a"))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    "own",
  ]);
});

it("those of another gateway are for everybody, too, and leave one caller no more than its part", () => {
  const connections = new Connections({ most: 8, behindProxy: false });
  const sockets = open(connections, 9);
  const admitted = sockets.map((socket, at) => connections.admit(socket, at < 3 ? "a" : undefined));
  expect(admitted.map((each) => each ?? "in").join(" ")).toBe("in in own in in in in in in");
  expect(open(connections, 1).map((socket) => connections.admit(socket, "b"))).toEqual(["all"]);
});
