import { describe, expect, it } from "vitest";
import type { Authorizer, Challenge } from "../../../../src/core/types/authorization.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { RemoteTarget, ResolvedTarget } from "../../../../src/core/types/server-definition.ts";
import type { GuardedResponse } from "../../../../src/core/net/fetch.ts";
import { ConfiguredHeaders } from "../../../../src/core/upstream/transport/configured-headers.ts";
import {
  type Hold,
  sendAuthorized,
} from "../../../../src/core/upstream/transport/send-authorized.ts";

interface Answer {
  status: number;
  headers?: Record<string, string>;
}

/** A server that gives these answers in turn; the last one over and over. */
function server(...answers: Answer[]) {
  const credentials: (string | undefined)[] = [];
  const cancelled: number[] = [];
  const send = async (given: Record<string, string>): Promise<GuardedResponse> => {
    credentials.push(given["authorization"]);
    const { status, headers = {} } = answers[credentials.length - 1] ??
      answers.at(-1) ?? { status: 500 };
    return {
      status,
      headers,
      url: "http://127.0.0.1/",
      body: (async function* () {})(),
      text: async () => "",
      cancel: () => void cancelled.push(status),
    };
  };
  return { send, credentials, cancelled };
}

/** The same, with all headers that it was sent. */
function recording(...answers: Answer[]) {
  const sent: Record<string, string>[] = [];
  const { send } = server(...answers);
  return {
    sent,
    send: (given: Record<string, string>): Promise<GuardedResponse> => {
      sent.push(given);
      return send(given);
    },
  };
}

function remote(headers: Record<string, string>): RemoteTarget {
  return { kind: "http", url: "", headers, allowInsecure: false, allowPrivate: false };
}

/** Gives these tokens in turn, the next one with each renewal. */
function wallet(...tokens: (string | undefined)[]) {
  const renewals: [Challenge, string | undefined][] = [];
  const authorizer: Authorizer = {
    token: async () => tokens[0],
    async renew(challenge, used) {
      renewals.push([challenge, used]);
      tokens.shift();
    },
  };
  return { authorizer, renewals };
}

const NONE = new ConfiguredHeaders({});

const REFUSED = { status: 401, headers: { "www-authenticate": "Bearer scope=a" } };
const NARROW = {
  status: 403,
  headers: { "www-authenticate": 'Bearer error="insufficient_scope"' },
};

describe("a request", () => {
  it("is sent as it is without an authorizer", async () => {
    const { send, credentials } = server(REFUSED);
    expect((await sendAuthorized({ headers: NONE }, send)).status).toBe(401);
    expect(credentials).toEqual([undefined]);
  });

  it("is sent with the current token", async () => {
    const { send, credentials, cancelled } = server({ status: 200 });
    const { authorizer, renewals } = wallet("t1");
    expect((await sendAuthorized({ headers: NONE, authorizer }, send)).status).toBe(200);
    expect(credentials).toEqual(["Bearer t1"]);
    expect([renewals, cancelled]).toEqual([[], []]);
  });

  it("is sent again with a new token if the server asks for one", async () => {
    const { send, credentials, cancelled } = server(REFUSED, NARROW, { status: 200 });
    const { authorizer, renewals } = wallet(undefined, "t1", "t2");
    expect((await sendAuthorized({ headers: NONE, authorizer }, send)).status).toBe(200);
    expect(credentials).toEqual([undefined, "Bearer t1", "Bearer t2"]);
    expect(renewals).toEqual([
      [{ status: 401, header: "Bearer scope=a" }, undefined],
      [{ status: 403, header: 'Bearer error="insufficient_scope"' }, "t1"],
    ]);
    expect(cancelled).toEqual([401, 403]);
  });

  it.each([{ status: 403 }, { status: 404 }, { status: 500 }])(
    "that is refused for another reason is not: %j",
    async (answer) => {
      const { send, credentials } = server(answer);
      expect((await sendAuthorized({ headers: NONE, ...wallet("t") }, send)).status).toBe(
        answer.status,
      );
      expect(credentials).toHaveLength(1);
    },
  );

  it("fails if the server refuses every token", async () => {
    const { send, credentials } = server(REFUSED);
    const { authorizer, renewals } = wallet("t1", "t2", "t3", "t4", "t5");
    await expect(sendAuthorized({ headers: NONE, authorizer }, send)).rejects.toMatchObject({
      code: "NEEDS_AUTH",
      message: "the server refuses every token it is given (HTTP 401)",
      permanent: true,
    });
    expect(credentials).toHaveLength(4);
    expect(renewals).toHaveLength(3);
  });

  it("fails with the error of the renewal", async () => {
    const reason = new PlugboardError("NEEDS_AUTH", "sign-in required");
    const authorizer: Authorizer = {
      token: async () => undefined,
      renew: () => Promise.reject(reason),
    };
    await expect(sendAuthorized({ headers: NONE, authorizer }, server(REFUSED).send)).rejects.toBe(
      reason,
    );
  });

  it("holds its clock while tokens are found and renewed, and only then", async () => {
    const { send } = server(REFUSED, { status: 200 });
    const held: boolean[] = [];
    let holding = false;
    const hold: Hold = async (wait) => {
      holding = true;
      try {
        return await wait;
      } finally {
        holding = false;
        held.push(true);
      }
    };
    await sendAuthorized(
      { headers: NONE, ...wallet("t1", "t2") },
      (credentials) => {
        expect(holding).toBe(false);
        return send(credentials);
      },
      hold,
    );
    expect(held).toHaveLength(3);
  });

  it("is sent again once, with headers whose secrets were got again", async () => {
    const { send, sent } = recording(REFUSED, REFUSED, { status: 200 });
    let count = 0;
    const renew = async (): Promise<ResolvedTarget> => {
      count += 1;
      return { target: remote({ "X-Key": `key ${count}` }), renew };
    };
    const headers = new ConfiguredHeaders({ "X-Key": "key 0" }, renew);
    expect((await sendAuthorized({ headers }, send)).status).toBe(401);
    expect(sent).toEqual([{ "X-Key": "key 0" }, { "X-Key": "key 1" }]);
    expect((await sendAuthorized({ headers }, send)).status).toBe(200);
    expect(count).toBe(1);
  });

  it("is not, if the secrets are still the same", async () => {
    const { send, sent } = recording(REFUSED);
    const renew = async (): Promise<ResolvedTarget> => ({ target: remote({ a: "b" }), renew });
    const headers = new ConfiguredHeaders({ a: "b" }, renew);
    expect((await sendAuthorized({ headers }, send)).status).toBe(401);
    expect(sent).toHaveLength(1);
  });

  it("tries other headers before it asks for another token", async () => {
    const { send, sent } = recording(REFUSED, REFUSED, { status: 200 });
    const renew = async (): Promise<ResolvedTarget> => ({ target: remote({ a: "2" }), renew });
    const headers = new ConfiguredHeaders({ a: "1" }, renew);
    const { authorizer, renewals } = wallet("t1", "t2");
    expect((await sendAuthorized({ headers, authorizer }, send)).status).toBe(200);
    expect(sent).toEqual([
      { a: "1", authorization: "Bearer t1" },
      { a: "2", authorization: "Bearer t1" },
      { a: "2", authorization: "Bearer t2" },
    ]);
    expect(renewals).toHaveLength(1);
  });

  it("gets the secrets once for all requests that were refused", async () => {
    const { send, sent } = recording(REFUSED, REFUSED, { status: 200 });
    let count = 0;
    const renew = async (): Promise<ResolvedTarget> => {
      count += 1;
      return { target: remote({ a: "2" }), renew };
    };
    const headers = new ConfiguredHeaders({ a: "1" }, renew);
    await Promise.all([sendAuthorized({ headers }, send), sendAuthorized({ headers }, send)]);
    expect(sent).toEqual([{ a: "1" }, { a: "1" }, { a: "2" }, { a: "2" }]);
    expect(count).toBe(1);
  });
});
