import { describe, expect, it } from "vitest";
import type { RequestHandlers } from "../../../../src/core/types/request-handlers.ts";
import {
  CallsInFlight,
  type CausingCall,
} from "../../../../src/core/upstream/requests/calls-in-flight.ts";

const open = new AbortController().signal;

function start(calls: CallsInFlight, tool: string, handlers?: RequestHandlers) {
  const call: CausingCall = { tool, callId: undefined, handlers, samples: 0 };
  const tracked = calls.begin(call);
  return {
    call,
    succeed: () => calls.end(tracked, "answered"),
    fail: () => calls.end(tracked, "failed"),
  };
}

describe("a request", () => {
  it("belongs to no call if there is none", () => {
    expect(new CallsInFlight().originOfArrived()(open)).toEqual({ call: undefined, signal: open });
  });

  it("belongs to the call under way, and to neither if there are two", () => {
    const calls = new CallsInFlight();
    const a = start(calls, "a");
    expect(calls.originOfArrived()(open).call).toBe(a.call);
    const b = start(calls, "b");
    expect(calls.originOfArrived()(open).call).toBeUndefined();
    a.succeed();
    expect(calls.originOfArrived()(open).call).toBe(b.call);
    b.succeed();
    expect(calls.originOfArrived()(open).call).toBeUndefined();
  });

  it("belongs to the caller if all calls have the same one", () => {
    const onElicitation = () => ({ action: "decline" as const });
    const onSampling = () => "declined" as const;
    const calls = new CallsInFlight();
    const theirs = [
      start(calls, "a", { onElicitation, onSampling }),
      start(calls, "b", { onElicitation, onSampling }),
    ];
    expect(calls.originOfArrived()(open).call).toEqual({
      tool: undefined,
      handlers: { onElicitation, onSampling },
      samples: 0,
    });
    const other = start(calls, "c", { onElicitation });
    expect(calls.originOfArrived()(open).call).toBeUndefined();
    for (const { succeed } of [...theirs, other]) succeed();
    expect(calls.originOfArrived()(open).call).toBeUndefined();
  });

  it("is over when the request itself ends", () => {
    const calls = new CallsInFlight();
    start(calls, "a");
    const ended = new AbortController();
    const { signal } = calls.originOfArrived()(ended.signal);
    ended.abort();
    expect(signal.aborted).toBe(true);
  });

  it("is over when every call that may have caused it has failed", () => {
    const calls = new CallsInFlight();
    const a = start(calls, "a");
    const b = start(calls, "b");
    const { signal } = calls.originOfArrived()(open);
    const later = start(calls, "c");
    a.fail();
    expect(signal.aborted).toBe(false);
    b.fail();
    expect(signal.aborted).toBe(true);
    expect(calls.originOfArrived()(open).signal.aborted).toBe(false);
    later.succeed();
  });

  it("is not over when its call was answered", () => {
    const calls = new CallsInFlight();
    const a = start(calls, "a");
    const { signal } = calls.originOfArrived()(open);
    expect(calls.originOfArrived()(open).call).toBe(a.call);
    a.succeed();
    expect(signal.aborted).toBe(false);
  });
});
