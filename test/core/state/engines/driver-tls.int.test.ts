// What people read where an engine cannot be reached because of its TLS: what to change.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { SharedSettings } from "../../../../src/core/types/gateway-settings.ts";
import { openEngineState } from "../../../../src/core/state/engines/open.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { type Engines, missingEngines, startEngines } from "../../../support/engines.ts";
import { type Certificates, makeCertificates } from "../../net/certificates.ts";

const missing = missingEngines();

describe.skipIf(missing !== undefined)(`an engine and TLS, ${missing ?? "on real ones"}`, () => {
  let engines: Engines;
  let certificates: Certificates;

  beforeAll(async () => {
    [engines, certificates] = await Promise.all([startEngines(), makeCertificates()]);
  });
  afterAll(() => engines.stop());

  const open = (settings: SharedSettings) =>
    openEngineState({ settings, stateDir: temporaryDirectory(), isReplica: false });

  it("PostgreSQL has no TLS", async () => {
    const { postgres, ...settings } = await engines.newSettings();
    const opened = open({ ...settings, postgres: { ...postgres, tls: {} } });
    await expect(opened).rejects.toMatchObject({
      message: expect.stringMatching(
        /The server does not support SSL connections; give it TLS, or set gateway\.shared\.postgres\.tls to false if /,
      ),
    });
  });

  it.each([
    [
      "is not trusted",
      "server" as const,
      false,
      /; if it is from your own authority, name that one's file in gateway\.shared\.postgres\.tls\.ca$/,
    ],
    [
      "is for another name",
      "example" as const,
      true,
      /does not match certificate's altnames: IP: 127\.0\.0\.1 is not in the cert's list/,
    ],
  ])("the certificate of PostgreSQL at an IP address %s", async (_, name, isTrusted, message) => {
    const settings = await engines.newSettings();
    const ca = join(temporaryDirectory(), "ca.pem");
    await writeFile(ca, certificates.ca);
    const warnings = vi.spyOn(process, "emitWarning");
    onTestFinished(() => warnings.mockRestore());
    // Says yes to the request for TLS, and begins it.
    const port = await listening((socket) => {
      socket.once("data", () => {
        socket.write("S");
        const secured = new TLSSocket(socket, { isServer: true, ...certificates[name] });
        secured.on("error", () => {});
      });
    });
    const url = `postgres://plugboard@127.0.0.1:${port}/plugboard`;
    const postgres = { url, tls: isTrusted ? { ca } : {} };
    await expect(open({ ...settings, postgres })).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
    expect(warnings.mock.calls).toEqual([]);
  });

  it("the certificate of Valkey is not trusted", async () => {
    const settings = await engines.newSettings();
    const secured = createTlsServer(certificates.server).on("tlsClientError", () => {});
    const port = await listening((socket) => secured.emit("connection", socket));
    const state = await open({
      ...settings,
      valkey: { url: `valkey://127.0.0.1:${port}`, tls: {} },
    });
    onTestFinished(() => state.close());
    expect(state.health?.().away).toEqual([
      {
        engine: "valkey",
        message: expect.stringMatching(/name that one's file in gateway\.shared\.valkey\.tls\.ca$/),
      },
    ]);
  });

  it("Valkey has no TLS, and does not answer", async () => {
    const { valkey, ...settings } = await engines.newSettings();
    const state = await open({ ...settings, valkey: { url: valkey?.url ?? "", tls: {} } });
    onTestFinished(() => state.close());
    expect(state.health?.().away).toEqual([
      {
        engine: "valkey",
        message: expect.stringMatching(
          /ETIMEDOUT; if it runs without TLS, .*set gateway\.shared\.valkey\.tls to false if /,
        ),
      },
    ]);
  });
});

async function listening(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}
