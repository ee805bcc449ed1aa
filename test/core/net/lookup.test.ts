import { describe, expect, it } from "vitest";
import { guardedLookup, systemResolve } from "../../../src/core/net/lookup.ts";
import type { Resolve } from "../../../src/core/net/lookup.ts";
import { addressRules } from "../../../src/core/net/policy.ts";
import { STRICT } from "./servers.ts";

const PUBLIC = { address: "93.184.215.14", family: 4 };
const PUBLIC6 = { address: "2606:2800:21f:cb07:6820:80da:af6b:8b2c", family: 6 };
const PRIVATE = { address: "10.0.0.1", family: 4 };

/** What `net.connect` would get. */
function ask(resolve: Resolve, host: string, all: boolean): Promise<unknown[]> {
  const lookup = guardedLookup(addressRules(STRICT), resolve);
  return new Promise((answer, fail) => {
    lookup(host, { all }, (error, ...found) => (error === null ? answer(found) : fail(error)));
  });
}

describe("guardedLookup", () => {
  it("gives every address to a socket that tries them in turn", async () => {
    const resolve: Resolve = async () => [PUBLIC, PUBLIC6];
    expect(await ask(resolve, "example.com", true)).toEqual([[PUBLIC, PUBLIC6]]);
  });

  it("gives the first address to a socket that wants one", async () => {
    const resolve: Resolve = async () => [PUBLIC, PUBLIC6];
    expect(await ask(resolve, "example.com", false)).toEqual([PUBLIC.address, 4]);
  });

  it.each([
    ["private", [PRIVATE], "REFUSED_ADDRESS"],
    ["private behind a public one", [PUBLIC, PRIVATE], "REFUSED_ADDRESS"],
    ["loopback", [{ address: "127.0.0.1", family: 4 }], "REFUSED_ADDRESS"],
    ["none", [], "NETWORK"],
  ])("refuses a name whose address is %s", async (_, addresses, code) => {
    await expect(ask(async () => addresses, "example.com", true)).rejects.toMatchObject({ code });
  });

  it("passes on why a name has no address", async () => {
    const error = Object.assign(new Error("no such host"), { code: "ENOTFOUND" });
    await expect(ask(() => Promise.reject(error), "example.com", true)).rejects.toBe(error);
  });

  it("takes localhost for this machine, and only that", async () => {
    const [addresses] = await ask(systemResolve, "localhost", true);
    expect(addresses).not.toHaveLength(0);
    await expect(ask(async () => [PUBLIC], "localhost", true)).rejects.toMatchObject({
      code: "REFUSED_ADDRESS",
      message: "localhost (93.184.215.14) is a public address, but localhost must be this machine",
    });
  });
});
