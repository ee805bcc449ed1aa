import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { X509Certificate } from "node:crypto";
import { get } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { placeOf } from "../../../src/core/config/find.ts";
import type { Fingerprint } from "../../../src/core/config/fingerprint.ts";
import { gatewaySettings } from "../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { openGateway, type OpenGatewayOptions } from "../../../src/serve/gateway/open-gateway.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { findGateway } from "../../../src/core/state/running-gateway.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { packageVersion } from "../../../src/util/version.ts";
import { makeCertificates } from "../../core/net/certificates.ts";
import { recordingLogger } from "../../support/logger.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { MovableClock } from "../../support/movable-clock.ts";

const SOON = { timeout: 20_000, interval: 20 };

it("opens for a program, says what is wrong with its certificate, and leaves nothing when it closes", async () => {
  const stateDir = temporaryDirectory();
  const { expired, server } = await makeCertificates();
  const clock = new MovableClock();
  const tls = { cert: join(stateDir, "cert.pem"), key: join(stateDir, "key.pem") };
  await writeFile(tls.cert, expired.cert);
  await writeFile(tls.key, expired.key);
  const logger = recordingLogger();
  const issuers = [{ issuer: "https://login.example.com", algorithms: ["RS256" as const] }];
  const publicUrl = "https://gateway.example.com";
  const options: OpenGatewayOptions = {
    settings: { ...gatewaySettings({ port: 0 }), tls, publicUrl, jwt: { issuers } },
    agentIds: ["default"],
    readAgent: async () => parseAgentConfig({ servers: {} }),
    defaultAgent: "default",
    network: { allow: [], env: {} },
    stateDir,
    cwd: stateDir,
    env: {},
    clock,
    logger,
  };
  const gateway = await openGateway(options);
  onTestFinished(() => gateway.close());
  expect(gateway.http?.url).toBe(`${publicUrl}/mcp`);
  expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    expect.stringMatching(/^warn the certificate .*cert\.pem has expired/),
    expect.stringMatching(/^warn Plugboard offers no tools/),
  ]);
  await expect(openGateway(options)).rejects.toThrow("a gateway is already running");

  const { url } = (await findGateway(stateDir, undefined)) ?? {};
  const document = (path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const place = `${url}/.well-known/oauth-protected-resource${path}`;
      get(place, { rejectUnauthorized: false, agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve(response.statusCode === 200 && JSON.parse(text)));
      }).on("error", reject);
    });
  // Some clients ask without the path of the endpoint.
  for (const path of ["", "/mcp"]) {
    expect(await document(path)).toMatchObject({ resource: `${publicUrl}/mcp` });
  }
  expect(await document("/agents/nobody/mcp")).toBe(false);

  // A renewed certificate is what new connections are shown.
  await writeFile(tls.cert, server.cert);
  await writeFile(tls.key, server.key);
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const port = Number(new URL(url ?? "").port);
      const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
        resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? "");
        socket.destroy();
      });
      socket.on("error", reject);
    });
  expect(await shown()).toBe(new X509Certificate(expired.cert).fingerprint256);
  clock.forward(10_000);
  await expect.poll(shown, SOON).toBe(new X509Certificate(server.cert).fingerprint256);

  await gateway.close();
  expect(await findGateway(stateDir, undefined)).toBeUndefined();
});

it("opens without HTTP: no port, no token, and its note says how it was started", async () => {
  const stateDir = temporaryDirectory();
  const configFile = join(stateDir, "a.json");
  const fingerprint = (file: string): Fingerprint => ({
    file,
    cwd: "/",
    salt: "s",
    values: {},
    agents: {},
  });
  let applied = "first";
  const gateway = await openGateway({
    settings: gatewaySettings({ port: 0 }),
    agentIds: ["default"],
    readAgent: async () => parseAgentConfig({ servers: {} }),
    defaultAgent: "default",
    configFile,
    fingerprint: async () => fingerprint(applied),
    http: false,
    background: true,
    network: { allow: [], env: {} },
    stateDir,
    cwd: stateDir,
    env: {},
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => gateway.close());
  expect(gateway.http).toBeUndefined();
  expect(existsSync(join(stateDir, "gateway", "token"))).toBe(false);
  const place = placeOf(configFile);
  expect(await findGateway(stateDir, place)).toMatchObject({
    pid: process.pid,
    version: packageVersion(),
    background: true,
    fingerprint: fingerprint("first"),
  });
  expect(await findGateway(stateDir, place)).not.toHaveProperty("url");
  applied = "second";
  await gateway.writeRecord();
  expect((await findGateway(stateDir, place))?.fingerprint).toEqual(fingerprint("second"));
  // A note that is written while it stops would stay.
  await Promise.all([gateway.writeRecord(), gateway.close()]);
  expect(await findGateway(stateDir, place)).toBeUndefined();
});
