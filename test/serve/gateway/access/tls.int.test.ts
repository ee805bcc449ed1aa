import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CertificateWatch,
  readTls,
  type TlsMaterial,
} from "../../../../src/serve/gateway/access/tls.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { type Certificates, makeCertificates } from "../../../core/net/certificates.ts";

let directory: string;
let certificates: Certificates;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plugboard-gateway-tls-"));
  certificates = await makeCertificates();
  const { server, expired, example } = certificates;
  const files = {
    "server.pem": server.cert,
    "server.key": server.key,
    "expired.pem": expired.cert,
    "expired.key": expired.key,
    "other.key": example.key,
    "not.pem": "hello",
    "cut.pem": server.cert.slice(0, 200),
    "chain.pem": `${server.cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
    "secret.key": server.key,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  await mkdir(join(directory, "folder"));
  await chmod(join(directory, "secret.key"), 0);
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const read = (cert: string, key: string) =>
  readTls({ cert: join(directory, cert), key: join(directory, key) }, systemClock);

describe("the certificate of the gateway", () => {
  it("is what clients see", async () => {
    const server = createServer(await read("server.pem", "server.key"), (_, response) =>
      response.end("hello"),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const status = await new Promise((resolve, reject) => {
        const url = `https://127.0.0.1:${port}`;
        get(url, { ca: certificates.ca, agent: false }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        }).on("error", reject);
      });
      expect(status).toBe(200);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("is the renewed one for new connections, once both of its files are there", async () => {
    const clock = new ManualClock();
    const { lines, ...logger } = recordingLogger();
    const files = { cert: join(directory, "renewed.pem"), key: join(directory, "renewed.key") };
    const write = (file: string, text: string): Promise<void> => writeFile(file, text);
    const { server, example } = certificates;
    await Promise.all([write(files.cert, server.cert), write(files.key, server.key)]);
    const used = await readTls(files, clock);
    const renewed: TlsMaterial[] = [];
    const watch = new CertificateWatch({
      files,
      used,
      onRenewed: (material) => renewed.push(material),
      clock,
      logger,
    });
    const look = async (): Promise<void> => {
      await clock.advance(10_000);
      await watch.looked;
    };
    await look();
    await write(files.cert, example.cert);
    await look();
    expect([renewed, lines]).toEqual([[], []]);
    await look();
    await look();
    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringMatching(/goes on with the certificate that it has: .* is not the key of/),
    ]);
    await write(files.key, example.key);
    await look();
    expect(renewed).toMatchObject([{ cert: example.cert, key: example.key }]);
    expect(watch.endsAt).toBe(renewed[0]?.endsAt);
    await look();
    expect(renewed).toHaveLength(1);
    await watch.close();
    await rm(files.cert);
    await look();
    expect(lines[1]?.message).toMatch(/was renewed, and is used for new connections$/);
  });

  it("gets a warning where it has expired", async () => {
    expect((await read("server.pem", "server.key")).warning).toBeUndefined();
    expect((await read("expired.pem", "expired.key")).warning).toMatch(/has expired/);
  });

  const rows: [string, string, RegExp][] = [
    ["missing.pem", "server.key", /^gateway\.tls\.cert: .*missing\.pem does not exist$/],
    ["server.pem", "missing.key", /^gateway\.tls\.key: .*missing\.key does not exist$/],
    ["folder", "server.key", /^gateway\.tls\.cert: .*folder is not a file$/],
    ["not.pem", "server.key", /^gateway\.tls\.cert: .*not\.pem is not a certificate$/],
    ["cut.pem", "server.key", /^gateway\.tls\.cert: .*cut\.pem is not a certificate$/],
    ["server.pem", "not.pem", /^gateway\.tls\.key: .*not\.pem is not a private key$/],
    ["server.pem", "server.pem", /^gateway\.tls\.key: .*server\.pem is not a private key$/],
    ["server.pem", "other.key", /^gateway\.tls: .*other\.key is not the key of the certificate/],
    ["chain.pem", "server.key", /^gateway\.tls: .*cannot be used$/],
    // Root may read every file.
    ...(process.geteuid?.() === 0
      ? []
      : ([["server.pem", "secret.key", /may not be read by this user$/]] as [
          string,
          string,
          RegExp,
        ][])),
  ];

  it.each(rows)("is refused with a reason: %s and %s", async (cert, key, message) => {
    await expect(read(cert, key)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
  });
});
