// Two gateways on one PostgreSQL and one Valkey, as a load balancer sees them: any of them takes any request.

import { createHash, createSecretKey, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { gatewaySettings } from "../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { ownerName } from "../../../src/core/state/process-owner.ts";
import { openEngineState } from "../../../src/core/state/engines/open.ts";
import type { GatewayBlock } from "../../../src/core/config/schema/gateway-schema.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { SharedSettings } from "../../../src/core/types/gateway-settings.ts";
import { bodyHash } from "../../../src/serve/endpoint/http/elsewhere.ts";
import { SESSION_MS } from "../../../src/serve/endpoint/http/sessions.ts";
import { Sealer } from "../../../src/serve/endpoint/sealed.ts";
import {
  openGateway,
  type OpenedGateway,
  type OpenGatewayOptions,
} from "../../../src/serve/gateway/open-gateway.ts";
import { FILE_NAME_HEADER, HOME_HEADER } from "../../../src/serve/gateway/page/wire.ts";
import {
  FORWARD_HEADER,
  type ForwardedFor,
  Signatures,
} from "../../../src/serve/gateway/replicas/signature.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { fixture } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { type Engines, missingEngines, replicaRow, startEngines } from "../../support/engines.ts";
import { freePorts } from "../../support/free-ports.ts";
import { recordingLogger } from "../../support/logger.ts";
import { openProvider } from "../../support/provider.ts";
import { expectNoProcesses } from "../../support/processes.ts";
import { INITIALIZE, type JsonRpc, legacy, modern, post } from "../endpoint/harness.ts";

const missing = missingEngines();
const why = missing === undefined ? "" : `, skipped: ${missing}`;

/** "Within a second", on a machine that does other things too. */
const SOON = { timeout: 20_000, interval: 20 };
const OWN = { scope: "session" } as const;
const FORMS = { ...INITIALIZE, capabilities: { elicitation: {} } };
const FORM = {
  method: "elicitation/create",
  params: { message: "?", requestedSchema: { type: "object", properties: {} } },
};

interface Replica {
  url: URL;
  gateway: OpenedGateway;
  stateDir: string;
  lines: ReturnType<typeof recordingLogger>["lines"];
}

describe.skipIf(missing !== undefined)(`gateways on two machines${why}`, () => {
  let engines: Engines;
  let headers: Record<string, string>;

  beforeAll(async () => {
    engines = await startEngines();
  });
  afterAll(() => engines.stop());
  const opened: OpenedGateway[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((gateway) => gateway.close()));
    expectNoProcesses();
  });

  interface PairOptions {
    /** Whether they tell each other how they are reached. */
    hasUrls?: boolean;
    keys?: readonly string[];
    publicUrl?: string;
    jwt?: GatewayBlock["jwt"];
    /** What the page of each can change, and what it takes. */
    page?: (at: "one" | "two") => Pick<OpenGatewayOptions, "changes" | "configuration">;
  }

  async function openPair(servers: BoardConfig["servers"], options: PairOptions = {}) {
    const made = await engines.newSettings();
    const settings = { ...made, keys: options.keys ?? made.keys };
    const [first = 0, second = 0] = await freePorts(2);
    const open = (port: number, at: "one" | "two"): Promise<Replica> =>
      openReplica(port, settings, { servers }, { ...options, page: options.page?.(at) });
    const one = await open(first, "one");
    return { one, two: await open(second, "two"), settings };
  }

  interface ReplicaOptions extends Omit<PairOptions, "page"> {
    page?: ReturnType<NonNullable<PairOptions["page"]>> | undefined;
  }

  async function openReplica(
    port: number,
    settings: SharedSettings,
    config: BoardConfig,
    { hasUrls: hasUrl = true, publicUrl, jwt, page }: ReplicaOptions = {},
  ): Promise<Replica> {
    const stateDir = temporaryDirectory();
    const logger = recordingLogger();
    const shared = { ...settings, ...(hasUrl && { replica: { url: `http://127.0.0.1:${port}` } }) };
    const gateway = await openGateway({
      settings: { ...gatewaySettings({ port, ...(publicUrl && { publicUrl }), jwt }), shared },
      ...page,
      agentIds: ["default"],
      readAgent: async () => parseAgentConfig(config),
      openState: () => openEngineState({ settings: shared, stateDir, isReplica: true, logger }),
      defaultAgent: "default",
      network: { allow: [], env: {} },
      stateDir,
      cwd: stateDir,
      env: process.env,
      clock: systemClock,
      logger,
    });
    opened.push(gateway);
    const token = readFileSync(join(stateDir, "gateway", "token"), "utf8").trim();
    headers = { authorization: `Bearer ${token}` };
    return { url: new URL(`http://127.0.0.1:${port}/mcp`), gateway, stateDir, lines: logger.lines };
  }

  async function begin(at: Replica, params: object = INITIALIZE): Promise<Record<string, string>> {
    const begun = await post(at.url, legacy("initialize", params), headers);
    return { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
  }

  async function call(
    at: Replica,
    session: Record<string, string>,
    name: string,
    args: object = {},
  ): Promise<string> {
    const body = legacy("tools/call", { name, arguments: args });
    const { message, status } = await post(at.url, body, session);
    const { result, error } = message ?? {};
    return result?.content[0].text ?? `${status} ${error?.message}`;
  }

  /** The events of a stream as they come, until the test ends or stops it. */
  async function events(at: Replica, init: RequestInit) {
    const stopping = new AbortController();
    onTestFinished(() => stopping.abort());
    const response = await fetch(at.url, { ...init, signal: stopping.signal });
    const seen: JsonRpc[] = [];
    const ids: string[] = [];
    const read = async (): Promise<void> => {
      let text = "";
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString();
        const whole = text.split("\n\n");
        text = whole.pop() ?? "";
        for (const each of whole) {
          const [, data] = /^data: (.*)$/m.exec(each) ?? [];
          if (data !== undefined) seen.push(JSON.parse(data));
          const [, id] = /^id: (.*)$/m.exec(each) ?? [];
          if (id !== undefined) ids.push(id);
        }
      }
    };
    const ended = read().catch(() => {});
    return { response, seen, ids, ended, stop: () => stopping.abort() };
  }

  const streamOf = (session: Record<string, string>): RequestInit => ({
    headers: { ...session, accept: "text/event-stream" },
  });
  const postOf = (body: JsonRpc, session: Record<string, string>): RequestInit => ({
    method: "POST",
    headers: {
      ...session,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(body),
  });

  it("a session with servers of its own is answered where it began, streams and its end too", async () => {
    const { one, two } = await openPair({ own: { ...fixture("echo"), ...OWN } });
    const session = await begin(one);
    const pid = await call(one, session, "own__pid");
    expect(pid).toMatch(/^\d+$/);
    expect(await call(two, session, "own__pid")).toBe(pid);
    // Larger than what fits into one packet.
    const text = "é".repeat(300_000);
    expect(await call(two, session, "own__echo", { text })).toBe(text);

    // Progress comes as it is made; the stream of the session stays open until one of the two ends it.
    const progress = { name: "own__progress", arguments: { steps: 2, ms: 10 } };
    const meta = { _meta: { progressToken: 1 } };
    const told = await events(two, postOf(legacy("tools/call", { ...progress, ...meta }), session));
    await told.ended;
    expect(told.seen.map(({ method, result }) => method ?? result.content[0].text)).toEqual([
      "notifications/progress",
      "notifications/progress",
      "2 steps done",
    ]);
    const stream = await events(two, streamOf(session));
    expect(stream.response.status).toBe(200);
    const listens = (): boolean => {
      const { sessions } = one.gateway.monitoring.status();
      return sessions.list.some((each) => each.listens);
    };
    await vi.waitFor(() => expect(listens()).toBe(true), SOON);
    stream.stop();
    await vi.waitFor(() => expect(listens()).toBe(false), SOON);

    const ended = await post(two.url, undefined, session, "DELETE");
    expect(ended.status).toBe(204);
    expect(await call(one, session, "own__pid")).toMatch(/^404 Session not found/);
    await vi.waitFor(
      async () => expect(await call(two, session, "own__pid")).toMatch(/^404 /),
      SOON,
    );

    const another = await begin(one);
    const open = await events(two, streamOf(another));
    expect(await call(two, another, "own__pid")).toMatch(/^\d+$/);
    await one.gateway.close();
    await open.ended;
    expect((await post(two.url, undefined, another, "DELETE")).status).toBe(204);
    expect(await call(two, another, "own__pid")).toMatch(/^404 Session not found/);
    expect(await call(two, await begin(two), "own__pid")).toMatch(/^\d+$/);
  });

  it("a session goes on when the gateway of its own servers is gone: only these start anew, in one other gateway, and say so once", async () => {
    const settings = await engines.newSettings();
    const servers = { own: { ...fixture("echo"), ...OWN }, shared: fixture("echo") };
    const ports = await freePorts(3);
    const open = (port: number): Promise<Replica> => openReplica(port, settings, { servers });
    const [one, two, three] = [
      await open(ports[0] ?? 0),
      await open(ports[1] ?? 0),
      await open(ports[2] ?? 0),
    ];
    const textsOf = async (at: Replica, name: string): Promise<string[]> => {
      const { message, status } = await post(
        at.url,
        legacy("tools/call", { name, arguments: {} }),
        session,
      );
      const content = message?.["result"]?.content as { text: string }[] | undefined;
      return content?.map(({ text }) => text) ?? [`${status} ${message?.["error"]?.message}`];
    };
    const session = await begin(one);
    const [before] = await textsOf(two, "own__pid");
    expect(await textsOf(one, "own__pid")).toEqual([before]);
    await post(one.url, legacy("logging/setLevel", { level: "debug" }), session);

    const stream = await events(three, streamOf(session));
    await one.gateway.close();
    opened.splice(opened.indexOf(one.gateway), 1);
    await stream.ended;
    // Whichever gets a request first has them from then on. What all gateways have goes on as if nothing had happened.
    const shared = await Promise.all([textsOf(two, "shared__pid"), textsOf(three, "shared__pid")]);
    for (const texts of shared) expect(texts).toEqual([expect.stringMatching(/^\d+$/)]);
    const [pid, said, ...more] = await textsOf(two, "own__pid");
    expect(pid).toMatch(/^\d+$/);
    expect(pid).not.toBe(before);
    expect(said).toMatch(/^\(Plugboard: the server 'own' was started anew for this session\. /);
    expect(more).toEqual([]);
    for (const at of [three, two]) expect(await textsOf(at, "own__pid")).toEqual([pid]);
    const again = await events(three, streamOf(session));
    expect(again.response.status).toBe(200);
    again.stop();

    // The one where it began comes back, and it does not.
    const back = await open(ports[0] ?? 0);
    expect(await textsOf(back, "own__pid")).toEqual([pid]);
    expect(await textsOf(three, "own__pid")).toEqual([pid]);
    expect((await post(back.url, undefined, session, "DELETE")).status).toBe(204);
    await vi.waitFor(async () => {
      for (const at of [back, two, three]) {
        expect((await textsOf(at, "own__pid"))[0]).toMatch(/^404 Session not found/);
      }
    }, SOON);
  });

  it("a gateway that is taken for gone drops the servers of a session that has moved", async () => {
    const { one, two, settings } = await openPair({ own: { ...fixture("echo"), ...OWN } });
    const session = await begin(one);
    const pid = await call(one, session, "own__pid");
    // As another gateway does that cannot reach it.
    const nonce = await nonceIn(session, settings);
    engines.sql(
      settings,
      `with bumped as (update plugboard_revisions set revision = revision + 1 where topic = 'sessions' returning revision)
        insert into plugboard_sessions select '${nonce}', ${Date.now() + SESSION_MS}, false,
          json_build_object('home', '${two.url.origin}')::text, revision from bumped`,
    );
    await vi.waitFor(async () => {
      const now = await call(one, session, "own__pid");
      expect(now).toMatch(/^\d+$/);
      expect(now).not.toBe(pid);
      expect(await call(two, session, "own__pid")).toBe(now);
    }, SOON);
    await vi.waitFor(() => expect(() => process.kill(Number(pid), 0)).toThrow(), SOON);
  });

  /** What the session's id has sealed in it. */
  async function nonceIn(
    session: Record<string, string>,
    settings: SharedSettings,
  ): Promise<string> {
    const state = await openEngineState({
      settings,
      stateDir: temporaryDirectory(),
      isReplica: false,
    });
    const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem: () => {} });
    const sealer = new Sealer(keys, randomBytes);
    const { nonce } = sealer.open("session", session["mcp-session-id"] ?? "") ?? {};
    keys.close();
    await state.close();
    return String(nonce);
  }

  it("what a server asks is answered through any of them, and a call is cancelled through any", async () => {
    const { one, two } = await openPair({ asks: fixture("asks") });
    const session = await begin(one, FORMS);
    const ask = legacy("tools/call", { name: "asks__ask", arguments: FORM });
    const asked = await events(one, postOf(ask, session));
    const [question] = await vi.waitFor(() => {
      expect(asked.seen).toHaveLength(1);
      return asked.seen;
    }, SOON);
    expect(question?.["method"]).toBe("elicitation/create");
    const said = { jsonrpc: "2.0", id: question?.["id"], result: { action: "accept" } };
    // Who has not been asked, and who is another caller, answers nothing.
    expect((await post(two.url, said, await begin(two, FORMS))).status).not.toBe(200);
    expect(asked.seen).toHaveLength(1);
    expect((await post(two.url, said, session)).status).toBe(202);
    await asked.ended;
    expect(asked.seen.at(-1)?.["result"].content[0].text).toContain('"accept"');

    // As a part of a batch.
    const again = await events(
      one,
      postOf(legacy("tools/call", { name: "asks__ask", arguments: FORM }), session),
    );
    await vi.waitFor(() => expect(again.seen).toHaveLength(1), SOON);
    const declined = { ...said, id: again.seen[0]?.["id"], result: { action: "decline" } };
    expect((await post(two.url, [declined], session)).status).toBe(202);
    await again.ended;
    expect(again.seen.at(-1)?.["result"].content[0].text).toContain('"decline"');

    const sleep = legacy("tools/call", { name: "asks__sleep" });
    const sleeping = post(one.url, sleep, session);
    const params = { requestId: sleep["id"] };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    let isOver = false;
    void sleeping.then(() => (isOver = true));
    // It may not have begun yet.
    await vi.waitFor(async () => {
      expect((await post(two.url, cancel, session)).status).toBe(202);
      expect(isOver).toBe(true);
    }, SOON);

    // A modern client comes back to the call that is held for it.
    const capabilities = { elicitation: {} };
    const params2 = { name: "asks__ask", arguments: FORM };
    const first = modern("tools/call", params2, capabilities);
    const held = await post(one.url, first.body, { ...headers, ...first.headers });
    const { requestState, inputRequests } = held.message?.["result"] ?? {};
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((key) => [key, { action: "accept" }]),
    );
    const back = modern("tools/call", { ...params2, requestState, inputResponses }, capabilities);
    const other = { ...back.body, params: { ...back.body["params"], arguments: { method: "x" } } };
    const refused = await post(two.url, other, { ...headers, ...back.headers });
    expect(refused.message?.["error"].message).toContain("requestState is not valid");
    const ended = await post(two.url, back.body, { ...headers, ...back.headers });
    expect(ended.message?.["result"].content[0].text).toContain('"accept"');
    const lost = await post(two.url, back.body, { ...headers, ...back.headers });
    expect(lost.message?.["result"].content[0].text).toContain("is lost");
  });

  it("what a client sets through one is heard through the other, and what changes at one is told by both", async () => {
    const upstream = await startRemote();
    const { one, two } = await openPair({ docs: { url: upstream.url }, lib: fixture("library") });
    // The stream is at one of them, and what the client asks for at the other.
    const session = await begin(one);
    const stream = await events(one, streamOf(session));
    const listed = await post(two.url, legacy("resources/list"), session);
    const [first] = listed.message?.["result"].resources ?? [];
    expect(first?.uri).toBeDefined();
    const subscribed = await post(
      two.url,
      legacy("resources/subscribe", { uri: first?.uri }),
      session,
    );
    expect(subscribed.message?.["result"]).toEqual({});
    await vi.waitFor(async () => {
      await call(one, session, "lib__write", { uri: first?.uri, text: "new" });
      const update = stream.seen.find(({ method }) => method === "notifications/resources/updated");
      expect(update?.["params"]).toEqual({ uri: first?.uri });
    }, SOON);

    // Only one of the two is told by the server.
    const others = await events(two, streamOf(await begin(two)));
    const told = (seen: readonly JsonRpc[]): boolean =>
      seen.some(({ method }) => method === "notifications/tools/list_changed");
    await vi.waitFor(async () => {
      expect(await toolsOf(one)).toContain("docs__first");
      expect(await toolsOf(two)).toContain("docs__first");
    }, SOON);
    const before = [stream.seen.length, others.seen.length] as const;
    upstream.rename("second");
    await upstream.tellOne();
    await vi.waitFor(() => {
      expect(told(stream.seen.slice(before[0]))).toBe(true);
      expect(told(others.seen.slice(before[1]))).toBe(true);
    }, SOON);
    expect(await toolsOf(one)).toContain("docs__second");
    expect(await toolsOf(two)).toContain("docs__second");
  });

  it("what changes at one is told while they ask a slow server for what another has told", async () => {
    const [slow, quick] = [await startRemote(), await startRemote()];
    const { one, two } = await openPair({ slow: { url: slow.url }, quick: { url: quick.url } });
    await vi.waitFor(async () => {
      for (const each of [one, two]) {
        expect(await toolsOf(each)).toEqual(["slow__first", "quick__first"]);
      }
    }, SOON);
    // Each has told the other of what it found when it began.
    for (let lists = -1; lists !== slow.lists + quick.lists; await delay(500)) {
      lists = slow.lists + quick.lists;
    }
    const before = quick.lists;
    slow.rename("second");
    slow.holdAfter(1);
    await slow.tellOne();
    await vi.waitFor(() => expect(slow.held.length).toBe(2), SOON);
    await vi.waitFor(() => expect(quick.lists).toBeGreaterThanOrEqual(before + 2), SOON);
    quick.rename("second");
    await quick.tellOne();
    await vi.waitFor(async () => {
      for (const each of [one, two]) expect(await toolsOf(each)).toContain("quick__second");
    }, SOON);
    for (const answerNow of slow.held) answerNow();
  });

  it("gateways with different configurations are named, and the page of one is that of all", async () => {
    const settings = { ...(await engines.newSettings()), differing: "unready" as const };
    const [first = 0, second = 0] = await freePorts(2);
    const one = await openReplica(first, settings, { servers: {} });
    const two = await openReplica(second, settings, { servers: {} });
    const configurationOf = async (at: Replica): Promise<string> => {
      const text = await (await fetch(new URL("/readyz", at.url))).text();
      return /^ready\nconfiguration ([0-9a-f]{12})\n$/.exec(text)?.[1] ?? text;
    };
    const hash = await configurationOf(one);
    expect(hash).toMatch(/^[0-9a-f]{12}$/);
    expect(await configurationOf(two)).toBe(hash);
    const fleetOf = (at: Replica) => at.gateway.monitoring.status().fleet;
    await vi.waitFor(() => expect(fleetOf(one)?.replicas).toHaveLength(2), SOON);
    expect(fleetOf(one)?.problems).toEqual([]);

    const [third = 0] = await freePorts(1);
    const other = await openReplica(third, settings, {
      servers: { docs: { ...fixture("echo"), enabled: false } },
    });
    await vi.waitFor(() => {
      const [problem] = fleetOf(one)?.problems ?? [];
      expect(problem).toContain("run with different configurations");
      expect(problem).toContain(other.url.origin);
      const said = one.lines.filter(({ message }) => message === problem);
      expect(said).toHaveLength(1);
    }, SOON);
    // The odd one gets no requests as long as most others agree; of two nobody can tell.
    const readiness = async (at: Replica): Promise<string> => {
      const answered = await fetch(new URL("/readyz", at.url));
      return `${answered.status} ${(await answered.text()).split("\n")[0]}`;
    };
    expect([await readiness(one), await readiness(two)]).toEqual(["200 ready", "200 ready"]);
    expect(await readiness(other)).toBe(
      "503 not ready: most gateways that share its state run with another configuration",
    );
    const metrics = await (await fetch(new URL("/metrics", other.url), { headers })).text();
    expect(metrics).toContain("\nplugboard_configurations 2\n");
    expect(metrics).toContain("\nplugboard_clock_ahead_seconds 0\n");

    // A link of one opens the page at the other, once, and who leaves there has left everywhere.
    const key = one.gateway.http?.newPageLink("owner").split("#k=")[1] ?? "";
    const ask = (at: Replica, name: string, body: object, cookie = "", secret = "1") =>
      fetch(new URL(`/ui/api/${name}`, at.url), {
        method: "POST",
        headers: {
          "content-type": "application/json",
          origin: at.url.origin,
          "x-plugboard": secret,
          cookie,
        },
        body: JSON.stringify(body),
      });
    const entered = await ask(two, "enter", { key });
    expect(entered.status).toBe(200);
    expect((await ask(one, "enter", { key })).status).toBe(401);
    const { secret } = (await entered.json()) as { secret: string };
    // Behind a load balancer all of them have one address; here the cookie is named by the port.
    const [sealed = ""] = /=[^;]+/.exec(entered.headers.get("set-cookie") ?? "") ?? [];
    const cookieAt = (at: Replica): string => `plugboard-ui-${at.url.port}${sealed}`;
    const tokens = (at: Replica) => ask(at, "tokens/list", {}, cookieAt(at), secret);
    expect((await tokens(two)).status).toBe(200);
    expect((await tokens(one)).status).toBe(200);
    const live = await events(
      { ...one, url: new URL("/ui/api/events", one.url) },
      {
        headers: { cookie: cookieAt(one), "x-plugboard": secret },
      },
    );
    await vi.waitFor(() => expect(live.seen[0]?.["gateway"].replica).toBe(one.url.origin), SOON);
    live.stop();
    expect((await ask(two, "leave", {}, cookieAt(two), secret)).status).toBe(200);
    await vi.waitFor(async () => expect((await tokens(one)).status).toBe(401), SOON);
  });

  /** Where people reach all of them: a load balancer sends each request to any. */
  const PUBLIC = "http://gateway.example:8080";

  interface Visit {
    cookie: string;
    secret: string;
  }

  interface Asked {
    status: number;
    body: JsonRpc;
  }

  async function askPage(
    at: Replica,
    name: string,
    body: object | Buffer,
    { visit, home, ...more }: { visit?: Visit; home?: string } & Record<string, unknown> = {},
  ): Promise<Asked> {
    const reply = await fetch(new URL(`/ui/api/${name}`, at.url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        origin: PUBLIC,
        "sec-fetch-site": "same-origin",
        "x-plugboard": visit?.secret ?? "1",
        ...(visit && { cookie: visit.cookie }),
        ...(home !== undefined && { [HOME_HEADER]: home }),
        ...more,
      },
      body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
    });
    const text = await reply.text();
    const parsed: unknown = reply.headers.get("content-type")?.includes("json")
      ? JSON.parse(text)
      : { text };
    return { status: reply.status, body: parsed as JsonRpc };
  }

  async function visitPage(link: string, at: Replica): Promise<Visit> {
    const reply = await fetch(new URL("/ui/api/enter", at.url), {
      method: "POST",
      headers: { origin: PUBLIC, "x-plugboard": "1" },
      body: JSON.stringify({ key: link.split("#k=")[1] }),
    });
    const { secret } = (await reply.json()) as { secret: string };
    const [cookie = ""] = (reply.headers.get("set-cookie") ?? "").split(";");
    return { cookie, secret };
  }

  const pageHeaders = ({ cookie, secret }: Visit, home?: string): Record<string, string> => ({
    cookie,
    "x-plugboard": secret,
    ...(home !== undefined && { [HOME_HEADER]: home }),
  });

  const pageEvents = (at: Replica, visit: Visit, home?: string, more: object = {}) =>
    events(
      { ...at, url: new URL("/ui/api/events", at.url) },
      { headers: { ...pageHeaders(visit, home), ...more } },
    );

  async function snapshotOf(at: Replica, visit: Visit, home?: string): Promise<JsonRpc> {
    const stream = await pageEvents(at, visit, home);
    await vi.waitFor(() => expect(stream.seen.length).toBeGreaterThan(0), SOON);
    stream.stop();
    return stream.seen[0] ?? {};
  }

  /** A change that is done by being counted, and a bundle that is its bytes. */
  function countingPage() {
    const done: string[] = [];
    const sent: { at: string; name: string; bytes: Buffer }[] = [];
    const page: PairOptions["page"] = (at) => ({
      changes: {
        trust: {
          takes: z.strictObject({ kind: z.literal("trust") }),
          plan: async () => ({
            shown: { summary: "trust it", about: {}, starts: [], diff: [], warnings: [] },
            apply: async () => void done.push(at),
          }),
        },
      },
      configuration: {
        upload: async (name: string, chunks: AsyncIterable<Buffer>) => {
          const all: Buffer[] = [];
          for await (const chunk of chunks) all.push(chunk);
          sent.push({ at, name, bytes: Buffer.concat(all) });
          return {} as never;
        },
      } as never,
    });
    return { done, sent, page };
  }

  const TRUST = { change: { kind: "trust" } };

  it("the page is answered by the gateway that it looks at, through any of them, and goes on at another when that is gone", async () => {
    const { done, sent, page } = countingPage();
    const { one, two } = await openPair({ asks: fixture("asks") }, { publicUrl: PUBLIC, page });
    const link = (role: "owner" | "viewer") => one.gateway.http?.newPageLink(role) ?? "";
    const visit = await visitPage(link("owner"), two);
    const first = await snapshotOf(one, visit);
    const { home } = first["gateway"] as { home: string };
    expect(first["gateway"].replica).toBe(one.url.origin);
    expect((await snapshotOf(two, visit))["gateway"].replica).toBe(two.url.origin);
    await vi.waitFor(async () => {
      const { gateways } = await snapshotOf(two, visit);
      const both = [one, two].map(({ url }) => ({ home: tagOf(url), name: url.origin }));
      expect(gateways).toHaveLength(2);
      expect(gateways).toEqual(expect.arrayContaining(both));
    }, SOON);

    // What one shows is seen through the other, and a stream that was cut goes on there.
    const live = await pageEvents(two, visit, home);
    await vi.waitFor(() => expect(live.seen.length).toBeGreaterThan(0), SOON);
    expect(live.seen[0]?.["gateway"]).toMatchObject({ replica: one.url.origin, home });
    expect(live.response.headers.get("content-security-policy")).toContain("default-src 'none'");
    await vi.waitFor(() => expect(live.ids.length).toBeGreaterThan(0), SOON);
    live.stop();
    const again = await pageEvents(two, visit, home, { "last-event-id": live.ids.at(-1) });
    const through = { visit, home };

    // A call that the page makes through one, and the answer to its server's question through the other.
    const run = await events(
      { ...two, url: new URL("/ui/api/tools/call", two.url) },
      {
        method: "POST",
        headers: { ...pageHeaders(visit, home), origin: PUBLIC },
        body: JSON.stringify({ agent: "default", tool: "asks__ask", args: FORM }),
      },
    );
    await vi.waitFor(() => expect(run.seen).toHaveLength(2), SOON);
    const [begun, question] = run.seen;
    const answer = { call: begun?.["call"], question: question?.["id"], action: "accept" };
    expect((await askPage(two, "tools/answer", answer, { visit })).status).toBe(400);
    expect((await askPage(two, "tools/answer", answer, through)).status).toBe(200);
    await run.ended;
    expect(run.seen.at(-1)?.["content"][0].text).toContain('"accept"');
    await vi.waitFor(() => {
      const calls = again.seen.flatMap(({ is }) => is?.calls ?? []);
      expect(calls.map(({ id }: { id: string }) => id)).toContain(begun?.["call"]);
    }, SOON);
    expect(again.seen.filter((each) => "gateway" in each)).toEqual([]);

    // What was shown by one is confirmed through the other, once.
    const shown = await askPage(two, "changes/preview", TRUST, through);
    const hash = { hash: shown.body["hash"] };
    expect((await askPage(two, "changes/confirm", hash, { visit })).status).toBe(400);
    expect(done).toEqual([]);
    expect((await askPage(two, "changes/confirm", hash, through)).status).toBe(200);
    expect(done).toEqual(["one"]);
    for (const at of [one, two]) {
      expect((await askPage(at, "changes/confirm", hash, through)).status).toBe(400);
    }
    expect(done).toEqual(["one"]);

    const bytes = randomBytes(3_000_000);
    const named = { ...through, [FILE_NAME_HEADER]: "a%20b.mcpb" };
    // What one that was killed has left on its way.
    const passed = join(two.stateDir, "gateway", "forwarded-files");
    const killed = ownerName().replace(/-\d+-\d+$/, "-4194303-1");
    mkdirSync(join(passed, `${killed}-abcdef`), { recursive: true });
    expect((await askPage(two, "add/upload", bytes, named)).status).toBe(200);
    expect(sent.map(({ at, name }) => [at, name])).toEqual([["one", "a b.mcpb"]]);
    expect(sent[0]?.bytes.equals(bytes)).toBe(true);
    await vi.waitFor(() => expect(readdirSync(passed)).toEqual([]), SOON);

    // Each is a copy on the disk of whoever passes it on, so there is one at a time.
    const slow = sendRequest(new URL("/ui/api/add/upload", two.url), {
      method: "POST",
      headers: { ...pageHeaders(visit, home), origin: PUBLIC, [FILE_NAME_HEADER]: "slow.mcpb" },
    });
    slow.on("error", () => {});
    slow.write(bytes);
    await vi.waitFor(() => expect(readdirSync(passed)).toHaveLength(1), SOON);
    expect((await askPage(two, "add/upload", bytes, named)).status).toBe(429);
    slow.destroy();
    await vi.waitFor(() => expect(readdirSync(passed)).toEqual([]), SOON);
    expect((await askPage(two, "add/upload", bytes, named)).status).toBe(200);
    expect(sent).toHaveLength(2);

    // A viewer is one there, too.
    const viewer = await visitPage(link("viewer"), two);
    const cut = await snapshotOf(two, viewer, home);
    expect(cut).toMatchObject({ you: { role: "viewer" }, gateway: { home } });
    expect(cut).not.toHaveProperty("lines");
    for (const [name, body] of [
      ["changes/preview", TRUST],
      ["tools/call", { agent: "default", tool: "asks__ask", args: FORM }],
      ["add/upload", bytes],
    ] as const) {
      expect((await askPage(two, name, body, { visit: viewer, home })).status, name).toBe(403);
    }
    expect(sent).toHaveLength(2);
    // Who signs out at one is signed out at the other, also where a stream is open.
    const watching = await pageEvents(two, viewer, home);
    await vi.waitFor(() => expect(watching.seen.length).toBeGreaterThan(0), SOON);
    expect((await askPage(two, "leave", {}, { visit: viewer, home })).status).toBe(200);
    await watching.ended;

    // It is gone: nothing is done elsewhere in its place, and the page goes on at the other.
    const unconfirmed = await askPage(two, "changes/preview", TRUST, through);
    const open = await pageEvents(two, visit, home);
    await one.gateway.close();
    await open.ended;
    const late = { hash: unconfirmed.body["hash"] };
    const refused = await askPage(two, "changes/confirm", late, through);
    expect(refused).toMatchObject({ status: 410, body: { error: { code: "GATEWAY_GONE" } } });
    const next = await snapshotOf(two, visit, home);
    expect(next["gateway"].replica).toBe(two.url.origin);
    const there = { visit, home: next["gateway"].home };
    expect((await askPage(two, "changes/confirm", late, there)).status).toBe(400);
    expect(done).toEqual(["one"]);
    const anew = await askPage(two, "changes/preview", TRUST, there);
    const confirmed = { hash: anew.body["hash"] };
    expect((await askPage(two, "changes/confirm", confirmed, there)).status).toBe(200);
    expect(done).toEqual(["one", "two"]);
    expect((await askPage(two, "leave", {}, through)).status).toBe(200);
    expect((await askPage(two, "tokens/list", {}, there)).status).toBe(401);
  });

  it("a request of the page is checked where it comes in, and believed once where it is passed on to", async () => {
    const { done, page } = countingPage();
    const { one, settings } = await openPair({}, { publicUrl: PUBLIC, page });
    const visit = await visitPage(one.gateway.http?.newPageLink("owner") ?? "", one);
    const member = await startStranger(settings);
    const home = tagOf(new URL(member.signing.url));
    const through = { visit, home };
    member.answer = (_request, reply) =>
      void reply
        .writeHead(200, { "content-type": "application/json", "x-inside": "1" })
        .end('{"of":"the other"}');
    const refused: Record<string, [status: number, more: Record<string, unknown>]> = {
      "another site": [403, { ...through, "sec-fetch-site": "cross-site" }],
      "another origin": [403, { ...through, origin: "http://evil.example" }],
      "no cookie": [401, { home, "x-plugboard": visit.secret }],
      "another secret": [401, { ...through, "x-plugboard": "x" }],
      "in a gateway's name": [403, { ...through, [FORWARD_HEADER]: "x" }],
      "both, in a gateway's name": [403, { ...through, [FORWARD_HEADER]: "" }],
    };
    for (const [name, [status, more]] of Object.entries(refused)) {
      expect((await askPage(one, "tokens/list", {}, more)).status, name).toBe(status);
    }
    const { "x-plugboard": _, ...bare } = pageHeaders(visit, home);
    const plain = { method: "POST", headers: { ...bare, origin: PUBLIC }, body: "{}" };
    expect((await fetch(new URL("/ui/api/tokens/list", one.url), plain)).status).toBe(403);
    expect(member.requests).toEqual([]);

    // What is passed on has what is needed there, and no more.
    const passed = await askPage(one, "tokens/list", {}, { ...through, "x-admin": "1" });
    expect(passed).toEqual({ status: 200, body: { of: "the other" } });
    const [arrived] = member.requests;
    expect(Object.keys(arrived?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "connection",
      "content-length",
      "content-type",
      "host",
      FORWARD_HEADER,
    ]);
    const [, sealedIn = ""] = String(arrived?.headers[FORWARD_HEADER]).split(".");
    const said = JSON.parse(Buffer.from(sealedIn, "base64url").toString());
    const visitor = said.by.visitor as { nonce: string; until: number };
    expect(said).toMatchObject({
      to: member.signing.url,
      by: { visitor: { role: "owner", name: "the owner" } },
      body: bodyHash([Buffer.from("{}")]),
    });
    expect(JSON.stringify(said)).not.toContain(visit.secret);
    member.answer = (_request, reply) => void reply.destroy();
    const broken = await askPage(one, "changes/confirm", { hash: "x" }, through);
    expect(broken).toMatchObject({
      status: 502,
      body: { error: { hint: expect.stringContaining("may have been done") } },
    });
    expect(member.requests).toHaveLength(2);
    // A name that nobody has, and one that was never one.
    for (const other of ["00000000", "../x"]) {
      expect((await askPage(one, "tokens/list", {}, { visit, home: other })).status).toBe(410);
    }

    const path = "/ui/api/changes/preview";
    const body = JSON.stringify(TRUST);
    const meant = { accept: "application/json", "content-type": "application/json" };
    const sign = (
      given: { to?: string; by?: object; of?: string; at?: string; as?: IncomingHttpHeaders } = {},
    ): string => {
      const { to = one.url.origin, by = { visitor }, of = body, at = path, as = meant } = given;
      const request = { method: "POST", path: at, headers: as };
      return member.signatures.sign(request, to, by, bodyHash([Buffer.from(of)]));
    };
    const send = async (
      header: string,
      as: Record<string, string> = meant,
      name = "changes/preview",
    ): Promise<number> => {
      const reply = await fetch(new URL(`/ui/api/${name}`, one.url), {
        method: "POST",
        headers: { ...as, [FORWARD_HEADER]: header },
        body,
      });
      await reply.arrayBuffer();
      return reply.status;
    };
    const good = sign();
    expect(await send(good)).toBe(200);
    const caller = { id: "token:default", label: "default" };
    const viewer = { ...visitor, role: "viewer" };
    const over = { ...visitor, until: Date.now() };
    const another = await visitPage(one.gateway.http?.newPageLink("owner") ?? "", one);
    const seen = member.requests.length;
    member.answer = (_request, reply) => void reply.end("{}");
    expect((await askPage(one, "tokens/list", {}, { ...through, visit: another })).status).toBe(
      200,
    );
    const [, theirs = ""] = String(member.requests[seen]?.headers[FORWARD_HEADER]).split(".");
    const gone = JSON.parse(Buffer.from(theirs, "base64url").toString()).by.visitor;
    expect((await askPage(one, "leave", {}, { visit: another })).status).toBe(200);
    const cases: Record<string, [number, () => Promise<number>]> = {
      "a second time": [403, () => send(good)],
      "for another gateway": [403, () => send(sign({ to: member.signing.url }))],
      "another body": [403, () => send(sign({ of: "{}" }))],
      "another method": [403, () => send(sign(), meant, "changes/confirm")],
      "for an MCP client": [403, () => send(sign({ by: { caller, agent: "default" } }))],
      "for nobody": [403, () => send(sign({ by: {} }), { ...meant, ...pageHeaders(visit) })],
      "for nobody of a role": [
        403,
        () => send(sign({ by: { visitor: { ...visitor, role: "x" } } })),
      ],
      "for a viewer": [403, () => send(sign({ by: { visitor: viewer } }))],
      "for a viewer, with an owner's cookie": [
        403,
        () => send(sign({ by: { visitor: viewer } }), { ...meant, ...pageHeaders(visit) }),
      ],
      "after the visitor's time": [401, () => send(sign({ by: { visitor: over } }))],
      "for somebody who has left": [401, () => send(sign({ by: { visitor: gone } }))],
      "what needs no visitor": [
        401,
        () => send(sign({ at: "/ui/api/way-in", by: { visitor: over } }), meant, "way-in"),
      ],
    };
    for (const [name, [status, attempt]] of Object.entries(cases)) {
      expect(await attempt(), name).toBe(status);
    }
    // A signature for the page is none for MCP.
    const mcp = member.signatures.sign(
      { method: "POST", path: "/mcp", headers: meant },
      one.url.origin,
      { visitor } as ForwardedFor,
      bodyHash([Buffer.from(body)]),
    );
    expect((await post(one.url, body, { ...meant, [FORWARD_HEADER]: mcp })).status).toBe(403);
    // What is passed on goes no further.
    const further = { ...meant, [HOME_HEADER]: home };
    expect(await send(sign(), further)).toBe(200);
    expect(member.requests).toHaveLength(3);
    expect(done).toEqual([]);
  });

  it("somebody who writes to PostgreSQL without the keys gets no request of the page, no answer and no cancellation", async () => {
    const { one, two, settings } = await openPair({ asks: fixture("asks") }, { publicUrl: PUBLIC });
    const caught: IncomingMessage[] = [];
    const evil = createServer((asked, reply) => {
      caught.push(asked);
      reply.end("{}");
    });
    await once(evil.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void evil.close());
    const url = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
    const visit = await visitPage(one.gateway.http?.newPageLink("owner") ?? "", one);
    await vi.waitFor(async () => {
      expect((await snapshotOf(one, visit))["gateways"]).toHaveLength(2);
    }, SOON);
    // The first by name, one that copies what another gateway has sealed, and that one with another address.
    engines.sql(
      settings,
      `${replicaRow({ keys: [] }, { id: "evil", name: "!", url })}
        insert into plugboard_replicas (id, sealed, seen)
          select 'copy', sealed, now() + interval '1 minute' from plugboard_replicas where sealed like 'sealed:%' limit 1;
        alter table plugboard_replicas add column url text default '${url}'`,
    );
    const problems = () => one.gateway.monitoring.status().fleet?.problems ?? [];
    const ignored = expect.stringContaining("rows of plugboard_replicas are ignored") as string;
    await vi.waitFor(() => expect(problems()).toContainEqual(ignored), SOON);
    const { gateways } = await snapshotOf(one, visit);
    const names = gateways.map(({ name }: { name: string }) => name).toSorted();
    expect(names).toEqual([one.url.origin, two.url.origin].toSorted());

    const home = tagOf(new URL(url));
    for (const at of [home, home.slice(0, 8)]) {
      expect((await askPage(one, "tokens/list", {}, { visit, home: at })).status).toBe(410);
    }
    const session = await begin(one, FORMS);
    const said = { jsonrpc: "2.0", id: `plugboard-${home}-0`, result: { action: "accept" } };
    expect((await post(one.url, said, session)).status).toBe(202);
    expect((await post(one.url, [said], session)).status).toBe(202);
    const params = { requestId: "none" };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    expect((await post(one.url, cancel, session)).status).toBe(202);
    // What belongs to the other gateway still arrives there.
    expect((await askPage(one, "tokens/list", {}, { visit, home: tagOf(two.url) })).status).toBe(
      200,
    );
    expect(caught).toEqual([]);
    await vi.waitFor(() => {
      const lines = one.lines.filter(({ message }) => message.includes("plugboard_replicas"));
      expect(lines).toHaveLength(1);
    }, SOON);
  });

  it("without keys, neither the page nor answers are forwarded, and the log and the status say so", async () => {
    const options = { publicUrl: PUBLIC, keys: [] };
    const { one, two, settings } = await openPair({ asks: fixture("asks") }, options);
    const missingKeys = expect.stringContaining("gateway.shared has no keys") as string;
    for (const { lines, gateway } of [one, two]) {
      expect(gateway.monitoring.status().fleet?.problems).toContainEqual(missingKeys);
      expect(lines.filter(({ message }) => message.includes("has no keys"))).toHaveLength(1);
    }
    // Each request of the page is answered where it comes in, and nobody vouches for a visitor.
    const visit = await visitPage(one.gateway.http?.newPageLink("owner") ?? "", two);
    const snapshot = await snapshotOf(two, visit, tagOf(one.url));
    expect(snapshot["gateway"]).toMatchObject({ replica: two.url.origin });
    expect(snapshot["gateways"]).toEqual([]);
    const member = await startStranger(settings);
    const visitor = { role: "owner", name: "x", nonce: "n", until: Date.now() + 60_000 } as const;
    const as = { accept: "*/*", "content-type": "application/json" };
    const request = { method: "POST", path: "/ui/api/tokens/list", headers: as };
    const hash = bodyHash([Buffer.from("{}")]);
    const signed = member.signatures.sign(request, one.url.origin, { visitor }, hash);
    const reply = await fetch(new URL(request.path, one.url), {
      method: "POST",
      headers: { ...as, [FORWARD_HEADER]: signed },
      body: "{}",
    });
    expect(reply.status).toBe(403);

    const session = await begin(one, FORMS);
    const ask = legacy("tools/call", { name: "asks__ask", arguments: FORM });
    const asked = await events(one, postOf(ask, session));
    await vi.waitFor(() => expect(asked.seen).toHaveLength(1), SOON);
    const id = asked.seen[0]?.["id"];
    const { length } = member.requests;
    const of = (action: string) => ({ jsonrpc: "2.0", id, result: { action } });
    expect((await post(two.url, of("accept"), session)).status).toBe(202);
    const toMember = { ...of("accept"), id: `plugboard-${tagOf(new URL(member.signing.url))}-0` };
    expect((await post(two.url, toMember, session)).status).toBe(202);
    expect(member.requests).toHaveLength(length);
    expect(asked.seen).toHaveLength(1);
    expect((await post(one.url, of("decline"), session)).status).toBe(202);
    await asked.ended;
    expect(asked.seen.at(-1)?.["result"].content[0].text).toContain('"decline"');

    // Where a session has its servers is sealed in its id, so every request of it still goes there.
    const pair = await openPair({ own: { ...fixture("echo"), ...OWN } }, { keys: [] });
    const own = await begin(pair.one);
    const pid = await call(pair.one, own, "own__pid");
    expect(pid).toMatch(/^\d+$/);
    expect(await call(pair.two, own, "own__pid")).toBe(pid);
  });

  /** What names a gateway to the page. */
  function tagOf(url: URL): string {
    return createHash("sha256").update(url.origin).digest("hex");
  }

  async function toolsOf(at: Replica): Promise<string[]> {
    const { message } = await post(at.url, legacy("tools/list"), headers);
    return message?.["result"].tools.map(({ name }: { name: string }) => name);
  }

  /** An MCP server over HTTP whose one tool can be renamed, and which tells only the first who listens. */
  async function startRemote() {
    let tool = "first";
    let lists = 0;
    let holdsAfter = Infinity;
    const held: (() => void)[] = [];
    const streams: ServerResponse[] = [];
    const answer = (asked: JsonRpc): object | undefined => {
      if (asked["method"] === "initialize") {
        return {
          protocolVersion: "2025-06-18",
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: "remote", version: "1" },
        };
      }
      if (asked["method"] !== "tools/list") return {};
      return { tools: [{ name: tool, inputSchema: { type: "object" } }] };
    };
    const server = createServer((asked, reply) => {
      if (asked.method === "GET") {
        reply.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
        return void streams.push(reply);
      }
      let text = "";
      asked.on("data", (chunk: Buffer) => (text += chunk.toString()));
      asked.on("end", () => {
        const message = text === "" ? {} : (JSON.parse(text) as JsonRpc);
        if (message["id"] === undefined) return void reply.writeHead(202).end();
        const body = { jsonrpc: "2.0", id: message["id"], result: answer(message) };
        const send = (): void =>
          void reply
            .writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" })
            .end(JSON.stringify(body));
        if (message["method"] === "tools/list") lists += 1;
        if (message["method"] === "tools/list" && lists > holdsAfter) held.push(send);
        else send();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      rename: (name: string) => (tool = name),
      /** How often it was asked for its tools. */
      get lists(): number {
        return lists;
      },
      /** Answers that it holds back: to whoever asks for its tools after so many more lists. */
      held,
      holdAfter: (more: number) => (holdsAfter = lists + more),
      tellOne: async () => {
        await vi.waitFor(() => expect(streams.length).toBeGreaterThan(0), SOON);
        const notification = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
        streams[0]?.write(`data: ${JSON.stringify(notification)}\n\n`);
      },
    };
  }

  it("what a JWT allows goes along with a request, and a sign-out holds at both", async () => {
    const provider = await openProvider();
    onTestFinished(() => provider.close());
    const { one, two, settings } = await openPair(
      { own: { ...fixture("echo"), ...OWN } },
      {
        publicUrl: "https://gateway.example.com",
        jwt: {
          issuers: [{ issuer: provider.url, algorithms: ["ES256"], audience: "board" }],
          rights: [{ claim: "groups", has: "staff", allow: ["own/pid"] }],
        },
      },
    );
    const jwt = async (sub: string): Promise<string> => {
      const now = Math.floor(Date.now() / 1000);
      const times = { iat: now, exp: now + 600 };
      const claims = { iss: provider.url, sub, aud: "board", groups: ["staff"], ...times };
      return `Bearer ${await provider.token(claims)}`;
    };
    const sessions = [];
    for (const sub of ["ann", "bob"]) {
      headers = { authorization: await jwt(sub) };
      sessions.push(await begin(one));
    }
    const [ann = {}, bob = {}] = sessions;
    const pid = await call(one, ann, "own__pid");
    expect(await call(two, ann, "own__pid")).toBe(pid);
    for (const at of [one, two]) {
      expect(await call(at, ann, "own__add", { a: 1, b: 1 })).toMatch(/no tool|[Uu]nknown tool/);
    }
    const command = await openEngineState({
      settings,
      stateDir: temporaryDirectory(),
      isReplica: false,
    });
    onTestFinished(() => command.close());
    await command.tokens.signOut(`jwt:${provider.url}#ann`);
    for (const at of [one, two]) {
      await vi.waitFor(async () => {
        expect(await call(at, ann, "own__pid")).toContain("signed out");
      }, SOON);
      expect(await call(at, bob, "own__pid")).toMatch(/^\d+$/);
    }
    await command.tokens.signOut();
    for (const at of [one, two]) {
      await vi.waitFor(async () => {
        expect(await call(at, bob, "own__pid")).toContain("signed out");
      }, SOON);
    }
  });

  it("without a URL, a session with servers of its own is not to be had elsewhere, and the log says why", async () => {
    const { one, two } = await openPair(
      { own: { ...fixture("echo"), ...OWN } },
      { hasUrls: false },
    );
    const session = await begin(one);
    expect(await call(one, session, "own__pid")).toMatch(/^\d+$/);
    for (let at = 0; at < 2; at += 1) {
      expect(await call(two, session, "own__pid")).toMatch(
        /^404 Session not found: .* has no gateway\.shared\.replica\.url/,
      );
    }
    const said = two.lines.filter(({ message }) => message.includes("replica.url"));
    expect(said).toHaveLength(1);
  });

  it("a gateway that breaks off may have run the call, and one that is slow to break off is noticed", async () => {
    const { one, settings } = await openPair({ own: { ...fixture("echo"), ...OWN } });
    const broken = await startStranger(settings);
    const id = { ...headers, "mcp-session-id": await broken.sessionOf("token:default") };
    broken.answer = (_request, reply) => void reply.destroy();
    expect(await call(one, id, "own__pid")).toMatch(/^502 .*may have run/);
    broken.answer = (_request, reply) => {
      reply.writeHead(200, { "content-type": "text/event-stream" }).write("event: message\n");
      setImmediate(() => reply.destroy());
    };
    await expect(post(one.url, legacy("ping"), id)).rejects.toThrow();
    // Each of these was sent once.
    expect(broken.requests).toHaveLength(2);
    // Nobody is at its address any more, and it is still listed: the session goes on here.
    await broken.stop();
    expect(await call(one, id, "own__pid")).toMatch(/^\d+$/);
    expect(broken.requests).toHaveLength(2);
  });

  it("a request in another gateway's name is believed once, for what was signed, and goes no further", async () => {
    const before = Date.now();
    const { one, two, settings } = await openPair({ own: { ...fixture("echo"), ...OWN } });
    const session = await begin(one);
    const pid = await call(one, session, "own__pid");
    const member = await startStranger(settings);
    const body = JSON.stringify(legacy("tools/call", { name: "own__pid", arguments: {} }));
    const id = { "mcp-session-id": session["mcp-session-id"] ?? "" };
    const plain = { "content-type": "application/json", accept: "application/json", ...id };
    const by = { caller: { id: "token:default", label: "default" }, agent: "default" };
    const signed = (
      given: Partial<{ to: string; by: object; body: string; path: string; method: string }> = {},
      from: Signatures = member.signatures,
    ): string =>
      from.sign(
        { method: given.method ?? "POST", path: given.path ?? "/mcp", headers: plain },
        given.to ?? one.url.origin,
        given.by ?? by,
        bodyHash([Buffer.from(given.body ?? body)]),
      );
    const send = async (header: string, more: Record<string, string> = {}, sent = body) => {
      const { status, message } = await post(one.url, sent, {
        ...plain,
        [FORWARD_HEADER]: header,
        ...more,
      });
      const text = message?.["result"]?.content[0].text;
      return text ?? `${status} ${message?.["error"]?.message}`;
    };
    const good = signed();
    expect(await send(good)).toBe(pid);
    expect(await send(good)).toMatch(/^403 /);
    const [kid, payload = "", mac] = signed().split(".");
    const changed = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), by: {} };
    const forged = Buffer.from(JSON.stringify(changed)).toString("base64url");
    const strange = new Signatures({
      keys: { current: member.strangeKey, find: () => member.strangeKey },
      url: undefined,
      clock: systemClock,
      random: randomBytes,
    });
    const late = new Signatures({
      ...member.signing,
      clock: { ...systemClock, now: () => Date.now() - 31_000 },
    });
    const earlier = new Signatures({
      ...member.signing,
      clock: { ...systemClock, now: () => before },
    });
    const other = await begin(one);
    const cases: Record<string, () => Promise<string>> = {
      "no signature at all": () => send("x"),
      "a forged payload": () => send(`${kid}.${forged}.${mac}`),
      "another key": () => send(signed({}, strange)),
      "a signature that is over": () => send(signed({}, late)),
      "one from before it began, which it may have got already": () => send(signed({}, earlier)),
      "another target": () => send(signed({ to: two.url.origin })),
      "another path": () => send(signed({ path: "/agents/x/mcp" })),
      "another method": () => send(signed({ method: "DELETE" })),
      "another body": () => send(signed(), {}, body.replace("own__pid", "own__add")),
      "another session": () => send(signed(), { "mcp-session-id": other["mcp-session-id"] ?? "" }),
      "another agent": () => send(signed({ by: { ...by, agent: "other" } })),
      nobody: () => send(signed({ by: {} })),
      "two signatures": () => send(`${signed()}, ${signed()}`),
      "with a token as well": () => send("x", headers),
    };
    for (const [name, attempt] of Object.entries(cases)) {
      expect(await attempt(), name).toMatch(/^403 /);
    }
    // Somebody else's session is none, whoever vouches for them.
    const stranger = { id: "jwt:https://x#y", label: "y" };
    expect(await send(signed({ by: { ...by, caller: stranger } }))).toMatch(/^404 /);
    const revoked = { id: "token:gone", label: "gone" };
    expect(await send(signed({ by: { ...by, caller: revoked } }))).toMatch(/^401 /);
    // A session that is elsewhere is not passed on again.
    const elsewhere = await member.sessionOf("token:default");
    const further = { ...plain, "mcp-session-id": elsewhere };
    const hop = member.signatures.sign(
      { method: "POST", path: "/mcp", headers: further },
      one.url.origin,
      by,
      bodyHash([Buffer.from(body)]),
    );
    expect(await send(hop, { "mcp-session-id": elsewhere })).toMatch(/^404 /);
    expect(member.requests).toEqual([]);

    // What a client sends beside what is passed on never arrives, and what it gets is what it may read.
    member.answer = (_request, reply) =>
      void reply
        .writeHead(200, {
          "content-type": "application/json",
          "mcp-session-id": "x",
          "access-control-allow-origin": "*",
          "x-inside": "1",
        })
        .end('{"jsonrpc":"2.0","id":1,"result":{}}');
    const mine = { ...headers, "mcp-session-id": elsewhere };
    const smuggled = await post(one.url, legacy("ping"), {
      ...mine,
      "x-forwarded-for": "1.2.3.4",
      "x-admin": "1",
      "mcp-param-a": "1",
    });
    expect(smuggled.status).toBe(200);
    expect(smuggled.headers.get("x-inside")).toBeNull();
    expect(smuggled.headers.get("access-control-allow-origin")).toBeNull();
    const [arrived] = member.requests;
    expect(Object.keys(arrived?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "connection",
      "content-length",
      "content-type",
      "host",
      "mcp-param-a",
      "mcp-session-id",
      FORWARD_HEADER,
    ]);
    // What was meant for that one is refused by everybody else, and a client cannot say that it is forwarded.
    const caught = String(arrived?.headers[FORWARD_HEADER]);
    expect(await send(caught, { "mcp-session-id": elsewhere, "mcp-param-a": "1" })).toMatch(
      /^403 /,
    );
    expect((await post(two.url, body, { ...session, [FORWARD_HEADER]: "" })).status).toBe(403);

    // Too large a body is refused before anything is sent on.
    const { length } = member.requests;
    const huge = { ...legacy("ping"), params: { text: "x".repeat(17 * 1024 * 1024) } };
    const tooLarge = await post(one.url, huge, mine).catch(() => ({ status: 413 }));
    expect(tooLarge.status).toBe(413);
    expect(member.requests).toHaveLength(length);
  });

  it("one caller does not fill the way to another gateway for the others", async () => {
    const { one, settings } = await openPair({}, { publicUrl: PUBLIC });
    const visit = await visitPage(one.gateway.http?.newPageLink("owner") ?? "", one);
    const member = await startStranger(settings);
    const home = tagOf(new URL(member.signing.url));
    const held: ServerResponse[] = [];
    member.answer = (_request, reply) => void held.push(reply);
    const greedy = { ...headers, "mcp-session-id": await member.sessionOf("token:default") };
    const statuses: number[] = [];
    const asking = Array.from({ length: 300 }, async () => {
      const { status } = await post(one.url, legacy("ping"), greedy);
      statuses.push(status);
    });
    // Those that are too many are refused, not sent, and do not wait.
    await vi.waitFor(() => expect(held.length + statuses.length).toBe(300), SOON);
    expect(new Set(statuses)).toEqual(new Set([429]));
    member.answer = (_request, reply) => void reply.end("{}");
    expect((await askPage(one, "tokens/list", {}, { visit, home })).status).toBe(200);
    for (const reply of held) reply.writeHead(200).end();
    await Promise.all(asking);
    expect((await post(one.url, legacy("ping"), greedy)).status).toBe(200);
  });

  it("an address that no gateway can have is not one to pass on to", async () => {
    const { one, settings } = await openPair({});
    for (const url of ["nowhere", "file:///etc/passwd", "http://"]) {
      engines.sql(settings, replicaRow(settings, { id: url, name: "odd", url }));
    }
    const told = (): string => JSON.stringify(one.gateway.monitoring.status());
    await vi.waitFor(() => expect(told()).toContain('"name":"odd"'), SOON);
    expect(told()).not.toContain("passwd");
    const params = { requestId: "none" };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    expect((await post(one.url, cancel, await begin(one))).status).toBe(202);
  });

  /** A member of the fleet that is no gateway: it has the keys, and answers as the test says. */
  async function startStranger(settings: SharedSettings) {
    const requests: IncomingMessage[] = [];
    const member = {
      answer: (_request: IncomingMessage, reply: ServerResponse) => void reply.end(),
    };
    const server = createServer((asked, reply) => {
      requests.push(asked);
      asked.resume().once("end", () => member.answer(asked, reply));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const state = await openEngineState({
      settings: { ...settings, replica: { url } },
      stateDir: temporaryDirectory(),
      isReplica: true,
    });
    const keys = await state.openSealKeys({ keepFor: SESSION_MS, onProblem: () => {} });
    const stop = async (): Promise<void> => {
      server.closeAllConnections();
      server.close();
    };
    onTestFinished(async () => {
      await stop();
      keys.close();
      await state.close();
    });
    const signing = { keys, url, clock: systemClock, random: randomBytes };
    return Object.assign(member, {
      requests,
      signing,
      signatures: new Signatures(signing),
      strangeKey: { id: keys.current.id, key: createSecretKey(randomBytes(32)) },
      stop,
      /** A session of this caller whose servers run there. */
      sessionOf: async (caller: string): Promise<string> =>
        new Sealer(keys, randomBytes).seal("session", {
          agent: "default",
          caller,
          profile: INITIALIZE,
          expiresAt: Date.now() + SESSION_MS,
          nonce: randomBytes(12).toString("hex"),
          home: url,
        }),
    });
  }
});
