import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import {
  findGateway,
  gatewayFile,
  recordGateway,
  type RunningGateway,
} from "../../../src/core/state/running-gateway.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let stateDir = "";

beforeEach(() => {
  stateDir = temporaryDirectory();
});

const gateway = {
  pid: process.pid,
  url: "http://127.0.0.1:1",
  since: 5,
  version: "1.2.3",
  config: "/a.json",
};

describe("the note about a running gateway", () => {
  it("is found for its configuration alone, until it is removed", async () => {
    const whole: RunningGateway = {
      ...gateway,
      certificate: "/cert.pem",
      background: true,
      channel: { path: "/a.sock", key: "k" },
      fingerprint: { file: "f" },
    };
    await recordGateway(stateDir, gateway);
    const remove = await recordGateway(stateDir, whole);
    expect(await findGateway(stateDir, "/a.json")).toEqual(whole);
    expect(await findGateway(stateDir, "/b.json")).toBeUndefined();
    expect(await findGateway(stateDir, undefined)).toBeUndefined();
    expect(statSync(gatewayFile(stateDir, "/a.json", "json")).mode & 0o077).toBe(0);
    await remove();
    expect(await findGateway(stateDir, "/a.json")).toBeUndefined();
  });

  it.each<[string, (owner: string) => string, boolean]>([
    [
      "of a process that has ended is removed",
      (owner) => owner.replace(/-\d+-(?=\d+$)/, "-4194305-"),
      true,
    ],
    ["of an earlier process with the same id is removed", (owner) => `${owner}7`, true],
    ["of another machine stays, and is not doubted", (owner) => `0${owner.slice(1)}`, false],
  ])("%s", async (_, change, isGone) => {
    const file = gatewayFile(stateDir, "/a.json", "json");
    await recordGateway(stateDir, gateway);
    const note = JSON.parse(readFileSync(file, "utf8"));
    // A digit that is not there.
    const other = (owner: string): string =>
      change(owner) === owner ? `1${owner.slice(1)}` : change(owner);
    writeFileSync(file, JSON.stringify({ ...note, owner: other(note.owner) }));
    expect((await findGateway(stateDir, "/a.json")) === undefined).toBe(isGone);
    expect(existsSync(file)).toBe(!isGone);
  });

  it("of a process that has ended does not take that of its successor with it", async () => {
    const file = gatewayFile(stateDir, "/a.json", "json");
    await recordGateway(stateDir, gateway);
    const note = JSON.parse(readFileSync(file, "utf8"));
    const left = JSON.stringify({
      ...note,
      owner: note.owner.replace(/-\d+-(?=\d+$)/, "-4194305-"),
    });
    for (let round = 0; round < 300; round += 1) {
      writeFileSync(file, left);
      const noted = recordGateway(stateDir, { ...gateway, since: round });
      for (let turn = 0; turn < round % 15; turn += 1) await new Promise(setImmediate);
      await Promise.all([noted, findGateway(stateDir, "/a.json")]);
      expect(await findGateway(stateDir, "/a.json")).toMatchObject({ since: round });
    }
  });

  it("has no channel that is not whole", async () => {
    await recordGateway(stateDir, gateway);
    const file = gatewayFile(stateDir, "/a.json", "json");
    const note = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...note, channel: { path: 1 } }));
    expect(await findGateway(stateDir, "/a.json")).toEqual(gateway);
  });

  it("without a version is ignored", async () => {
    await recordGateway(stateDir, gateway);
    const file = gatewayFile(stateDir, "/a.json", "json");
    const { version: _, ...rest } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify(rest));
    expect(await findGateway(stateDir, "/a.json")).toBeUndefined();
  });

  it.each(["", "{", "null", "[]", '"x"', '{"pid":"1","url":1}'])(
    "that holds %j is none",
    async (text) => {
      await recordGateway(stateDir, gateway);
      writeFileSync(gatewayFile(stateDir, "/a.json", "json"), text);
      expect(await findGateway(stateDir, "/a.json")).toBeUndefined();
    },
  );
});
