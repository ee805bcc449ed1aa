// The balancer's file that `plugboard deploy` writes for gateways with a certificate: a real HAProxy before real gateways. And how
// a container asks a gateway whether it is well.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Agent, get } from "node:https";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { haproxyConfig } from "../../../src/cli/deploy/haproxy.ts";
import { type Certificates, makeCertificates } from "../../core/net/certificates.ts";
import { freePorts } from "../../support/free-ports.ts";
import { Sink, useScratch } from "../harness.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
const HAPROXY = "haproxy";
const isThere = spawnSync("sh", ["-c", `command -v ${HAPROXY}`], { env: { PATH } }).status === 0;
const SOON = { timeout: 20_000, interval: 50 };
/** What the certificates of the gateways are for. */
const NAME = "mcp.example";

const scratch = useScratch();
const running: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop();
});

let certificates: Certificates;
beforeAll(async () => {
  certificates = await makeCertificates();
});

type Identity = Certificates["server"];

/** A gateway of its own, with that certificate. Returns what stops it. */
async function startGateway(port: number, { cert, key }: Identity): Promise<() => Promise<void>> {
  const home = `gateway-${port}`;
  const config = scratch.file(`${home}.json`, {
    gateway: {
      tls: { cert: scratch.file(`${home}.pem`, cert), key: scratch.file(`${home}.key`, key) },
      publicUrl: `https://${NAME}`,
      behindProxy: true,
    },
  });
  const stderr = new Sink();
  const env = { PLUGBOARD_HOME: join(scratch.directory, home) };
  const argv = ["up", "--config", config, "--port", String(port)];
  const { done, events } = scratch.start(argv, { stderr, env });
  let isOn = true;
  const stop = async (): Promise<void> => {
    if (isOn) events.emit("SIGTERM");
    isOn = false;
    await done;
  };
  running.push(stop);
  await stderr.until("/mcp.");
  return stop;
}

/** Resolves to the status, as a client gets it that believes only the authority. */
async function ask(port: number, path: string, agent: Agent | false = false): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = {
      host: "127.0.0.1",
      port,
      path,
      servername: NAME,
      headers: { host: NAME },
      ca: [certificates.ca, certificates.selfSigned.cert],
      agent,
    };
    get(request, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    }).on("error", reject);
  });
}

describe.skipIf(!isThere)(`haproxy${isThere ? "" : " (skipped: it is not installed)"}`, () => {
  it("shows the certificate of the gateways, and sends requests only to those that have one for their name", async () => {
    const { example, server } = certificates;
    const [front = 0, first = 0, second = 0, foreign = 0] = await freePorts(4);
    const stop = await startGateway(first, example);
    await startGateway(second, example);
    // From the same authority, for another name.
    await startGateway(foreign, server);
    const cert = scratch.file("gateway.pem", example.cert);
    scratch.file("gateway.pem.key", example.key);
    const text = haproxyConfig({
      form: "systemd",
      gateways: [first, second, foreign].map((port) => ({
        name: `gateway-${port}`,
        address: `127.0.0.1:${port}`,
      })),
      bind: `127.0.0.1:${front}`,
      tls: { cert, ca: scratch.file("ca.pem", certificates.ca), host: NAME },
    });
    const file = scratch.file("haproxy.cfg", text);
    const checked = spawnSync(HAPROXY, ["-c", "-f", file], { env: { PATH }, encoding: "utf8" });
    expect(`${checked.stdout}${checked.stderr}`).not.toMatch(/\[(?:WARNING|ALERT)\]/);
    const balancer = spawn(HAPROXY, ["-db", "-f", file], { env: { PATH }, stdio: "pipe" });
    let said = "";
    for (const stream of [balancer.stdout, balancer.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        said += chunk;
      });
    }
    running.push(async () => {
      const gone = once(balancer, "exit");
      balancer.kill("SIGKILL");
      await gone;
    });
    await vi.waitFor(() => expect(said).toContain(`gateway-${foreign} is DOWN`), SOON);
    for (let times = 0; times < 6; times += 1) expect(await ask(front, "/readyz")).toBe(200);
    // The gateway itself answers: it knows the name, and wants a token.
    expect(await ask(front, "/mcp")).toBe(401);
    const used = (port: number): boolean => said.includes(`~ gateways/gateway-${port} `);
    expect([used(first), used(second), used(foreign)]).toEqual([true, true, false]);
    // One that stops costs nothing: a connection that cannot be made is made to the other.
    await stop();
    for (let times = 0; times < 4; times += 1) expect(await ask(front, "/readyz")).toBe(200);
  });
});

describe("a container asks a gateway whether it is well", () => {
  const words = (text: string, from: number, to: number): string[] =>
    JSON.parse(text).map((word: string) => word.replace(`port: ${from}`, `port: ${to}`));
  const compose = (form: string, to: number): string[] => {
    const path = join(ROOT, "test/fixtures/deploy", form, "compose.yaml");
    const { services } = parse(readFileSync(path, "utf8"));
    const [, ...test] = services["gateway-1"].healthcheck.test;
    return words(JSON.stringify(test), 7584, to);
  };
  const image = (to: number): string[] => {
    const text = readFileSync(join(ROOT, "deploy/Containerfile"), "utf8");
    const [, , test = ""] = /^HEALTHCHECK (.*\n)+? +CMD (\[.*\])$/m.exec(text) ?? [];
    return words(test, 7584, to);
  };

  /** The exit code. */
  async function run([program = "", ...args]: string[]): Promise<number> {
    const child = spawn(program, args, { stdio: "ignore", env: { PATH } });
    const [code] = await once(child, "exit");
    return code;
  }

  it("with a certificate and without, as it is written for Compose and in the image", async () => {
    const [withTls = 0, plain = 0, nobody = 0] = await freePorts(3);
    await startGateway(withTls, certificates.selfSigned);
    const stderr = new Sink();
    const env = { PLUGBOARD_HOME: join(scratch.directory, "plain") };
    const { done, events } = scratch.start(["up", "--port", String(plain)], { stderr, env });
    running.push(async () => {
      events.emit("SIGTERM");
      await done;
    });
    await stderr.until("/mcp.");
    const asked = [
      compose("compose-tls", withTls),
      compose("compose", plain),
      image(withTls),
      image(plain),
      image(nobody),
      compose("compose-tls", nobody),
    ];
    expect(await Promise.all(asked.map(run))).toEqual([0, 0, 0, 0, 1, 1]);
  });
});
