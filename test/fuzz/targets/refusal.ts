// How a remote server refuses a request: its status, headers and body.

import assert from "node:assert/strict";
import { parseChallenge } from "../../../src/core/auth/challenge.ts";
import { isChallenge, readRefusal } from "../../../src/core/upstream/transport/http-refusal.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { retryAfterMs } from "../../../src/util/retry-after.ts";
import { excerpt } from "../../../src/util/text.ts";
import type { Target } from "../target.ts";

const NOW = Date.UTC(2026, 10, 18);

export function refusal(): Target {
  return {
    about:
      "refusals of a remote server: status, WWW-Authenticate, Retry-After, type, body, a line each",
    covers: [
      "core/upstream/transport/http-refusal.ts",
      "core/auth/challenge.ts",
      "util/retry-after.ts",
    ],
    seeds: () => [
      '401\nBearer resource_metadata="https://a.example/.well-known/x", scope="a b", error="invalid_token", error_description="it is old"\n\ntext/plain\nno',
      '403\nBearer error=insufficient_scope, scope=x\n\napplication/json\n{"error":"insufficient_scope","error_description":"y"}',
      '429\n\n120\napplication/json\n{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"slow down"}}',
      "503\n\nWed, 18 Nov 2026 00:10:00 GMT\ntext/html\n<html>",
      '404\n\n\napplication/json\n{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"}}',
      '400\n\n1e400\napplication/json\n{"error":{"message":{"deep":[]}},"detail":1}',
    ],
    words: [
      "Bearer",
      "scope=",
      "resource_metadata=",
      "insufficient_scope",
      "session id",
      "401",
      "403",
      "404",
      "429",
      "500",
    ],
    run(input) {
      const [first = "", authenticate = "", retry = "", type = "", ...rest] = input
        .toString("latin1")
        .split("\n");
      const status = 400 + (Number.parseInt(first, 10) % 200 || 0);
      const headers = {
        "www-authenticate": authenticate,
        "retry-after": retry,
        "content-type": type,
      };
      const challenge = parseChallenge({ status, header: authenticate });
      assert.ok(
        [challenge.scope, challenge.resourceMetadata].every(
          (each) => each === undefined || authenticate.includes(each),
        ),
        "a challenge says what was sent",
      );
      if (challenge.insufficientScope)
        assert.ok(isChallenge(status, headers), "a challenge is recognised");
      const wait = retryAfterMs(retry, NOW);
      assert.ok(wait === undefined || wait >= 0, "a wait is never negative");
      for (const inSession of [false, true]) {
        const read = readRefusal({
          status,
          headers,
          body: rest.join("\n"),
          method: "tools/call",
          inSession,
          sent: inSession ? { Authorization: "x" } : {},
          now: NOW,
          quote: (received, max = 200) =>
            excerpt(
              typeof received === "string" ? received : JSON.stringify(received),
              (text) => text,
              max,
            ),
        });
        assert.ok(read.error instanceof PlugboardError);
        assert.ok(read.error.message.length < 2500, "an error is short");
        if (read.kind === "later")
          assert.ok(read.afterMs >= 250, "nobody makes us ask without a pause");
        if (read.kind === "session-lost") assert.ok(inSession, "only a session can be lost");
      }
    },
  };
}
