import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import {
  type SecretContext,
  type SecretProvider,
  type SecretReference,
  secretUnavailable,
} from "../../../src/core/types/secret-provider.ts";
import { SecretResolver, type SecretResolverOptions } from "../../../src/core/secrets/resolver.ts";
import { type Deferred, deferred } from "../../../src/util/deferred.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { failureOf, reference, surroundings } from "./programs.ts";

/** A provider that answers when the test says so, and counts. */
function heldProvider(name = "held") {
  const asked: string[] = [];
  const answers = new Map<string, Deferred<string>>();
  const signals: AbortSignal[] = [];
  let closed = 0;
  const provider: SecretProvider = {
    name,
    resolve({ path }: SecretReference, { signal }: SecretContext) {
      asked.push(path);
      signals.push(signal);
      const answer = deferred<string>();
      answers.set(path, answer);
      return answer.promise;
    },
    close: async () => void (closed += 1),
  };
  return { provider, asked, answers, signals, closed: () => closed };
}

function open(given: SecretProvider[], options: Partial<SecretResolverOptions> = {}) {
  const clock = new ManualClock();
  const values: string[] = [];
  const resolver = new SecretResolver({
    settings: {},
    given,
    surroundings: surroundings("/nowhere", { clock, env: { HOME_TOWN: "Berlin" } }),
    onValue: (value) => values.push(value),
    ...options,
  });
  return { resolver, clock, values };
}

describe("a reference", () => {
  it("is asked for once by all who need it at a time, and all references at once", async () => {
    const { provider, asked, answers } = heldProvider();
    const { resolver, values } = open([provider]);
    const all = ["a", "b", "a", "c", "b"].map((path) =>
      resolver.resolve(reference(`secret://held/${path}`)),
    );
    await settle();
    expect(asked).toEqual(["a", "b", "c"]);
    for (const [path, answer] of answers) answer.resolve(`value of ${path}`);
    expect(await Promise.all(all)).toEqual(["a", "b", "a", "c", "b"].map((p) => `value of ${p}`));
    expect(values).toEqual(["value of a", "value of b", "value of c"]);
  });

  it("is the same however it is written", async () => {
    const { provider, asked, answers } = heldProvider("op");
    const { resolver } = open([provider]);
    const both = ["op://v/i/f", "secret://op/v/i/f"].map((text) =>
      resolver.resolve(reference(text)),
    );
    await settle();
    expect(asked).toEqual(["v/i/f"]);
    answers.get("v/i/f")?.resolve("x");
    expect(await Promise.all(both)).toEqual(["x", "x"]);
  });

  it.each(["file", "held"])("to %s is another one in another directory", async (name) => {
    const { provider, asked, answers } = heldProvider(name);
    const { resolver } = open([provider]);
    const two = ["/a", "/b", "/a"].map((baseDir) =>
      resolver.resolve(reference(`secret://${name}/x`), { baseDir }),
    );
    await settle();
    expect(asked).toEqual(["x", "x"]);
    answers.get("x")?.resolve("v");
    await resolver.close();
    await Promise.allSettled(two);
  });

  it("is kept for half a minute, or until its value is refused", async () => {
    const { provider, asked, answers } = heldProvider();
    const { resolver, clock } = open([provider]);
    const ask = async (value?: string): Promise<string> => {
      const asking = resolver.resolve(reference("secret://held/a"));
      await settle();
      if (value !== undefined) answers.get("a")?.resolve(value);
      return asking;
    };
    expect(await ask("first")).toBe("first");
    await clock.advance(29_999);
    expect(await ask()).toBe("first");
    await clock.advance(1);
    expect(await ask("second")).toBe("second");
    // Somebody else had refused an older value.
    resolver.forget(reference("secret://held/a"), undefined, "first");
    expect(await ask()).toBe("second");
    resolver.forget(reference("secret://held/a"), undefined, "second");
    expect(await ask("third")).toBe("third");
    // A server is restarted.
    resolver.forget(reference("secret://held/a"));
    expect(await ask("fourth")).toBe("fourth");
    expect(asked).toHaveLength(4);
    await resolver.close();
    expect(clock.next()).toBeUndefined();
  });

  it("is read from its file each time: it may have been replaced", async () => {
    const directory = temporaryDirectory();
    const { resolver } = open([]);
    const value = (): Promise<string> =>
      resolver.resolve(reference("secret://file/token"), { baseDir: directory });
    await writeFile(join(directory, "token"), "first", { mode: 0o600 });
    expect(await value()).toBe("first");
    await writeFile(join(directory, "token"), "second");
    expect(await value()).toBe("second");
    await resolver.close();
  });

  it("whose provider fails is asked for again by the next one", async () => {
    const { provider, asked, answers } = heldProvider();
    const { resolver } = open([provider]);
    const failing = resolver.resolve(reference("secret://held/a"));
    await settle();
    answers.get("a")?.reject(secretUnavailable("not now", { permanent: false }));
    expect(await failureOf(failing)).toMatchObject({ message: "not now", permanent: false });
    const next = resolver.resolve(reference("secret://held/a"));
    await settle();
    answers.get("a")?.resolve("x");
    expect(await next).toBe("x");
    expect(asked).toHaveLength(2);
  });

  it("has ten seconds, and its provider is told to stop", async () => {
    const { provider, signals } = heldProvider();
    const { resolver, clock } = open([provider]);
    const failing = failureOf(resolver.resolve(reference("secret://held/a")));
    await clock.advance(9999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await failing).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message: "the provider did not answer within 10 s",
      permanent: false,
    });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("is still got for the others if one stops waiting", async () => {
    const { provider, answers, signals } = heldProvider();
    const { resolver } = open([provider]);
    const leaving = new AbortController();
    const left = failureOf(
      resolver.resolve(reference("secret://held/a"), { signal: leaving.signal }),
    );
    const stays = resolver.resolve(reference("secret://held/a"));
    await settle();
    leaving.abort();
    expect(await left).toMatchObject({ code: "CANCELLED" });
    expect(signals[0]?.aborted).toBe(false);
    answers.get("a")?.resolve("x");
    expect(await stays).toBe("x");
  });

  it.each([
    ["an empty one", "", "the value is empty"],
    ["binary data", "a\0b", "the value is binary data, not text"],
    ["none", undefined as unknown as string, "the provider gave no text"],
    ["a file", "x".repeat(2 ** 15 + 1), "the value is too long for a credential"],
  ])("has a value that a server can be given, not %s", async (_, value, message) => {
    const { resolver, values } = open([{ name: "my", resolve: async () => value }]);
    expect(await failureOf(resolver.resolve(reference("secret://my/a")))).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message,
      permanent: true,
    });
    expect(values).toEqual([]);
  });

  it.each([
    [new Error("a\u001b[31mb"), "ab", false],
    [new PlugboardError("NETWORK", "it is down"), "it is down", false],
    [new PlugboardError("REFUSED_ADDRESS", "not there", { permanent: true }), "not there", true],
    [secretUnavailable("no such secret"), "no such secret", true],
  ])("fails with the cause that its provider gives: %s", async (cause, message, permanent) => {
    const resolve = async (): Promise<string> => {
      throw cause;
    };
    const { resolver } = open([{ name: "my", resolve }]);
    expect(await failureOf(resolver.resolve(reference("secret://my/a")))).toMatchObject({
      code: "SECRET_UNAVAILABLE",
      message,
      permanent,
    });
  });

  it("needs a provider", async () => {
    const { resolver } = open([{ name: "mine", resolve: async () => "x" }]);
    expect(await failureOf(resolver.resolve(reference("secret://mien/a")))).toMatchObject({
      message: "there is no secret provider named 'mien'",
      hint: "did you mean 'mine'?",
      permanent: true,
    });
  });
});

describe("providers", () => {
  it("of the program win over ours, and are closed with the rest", async () => {
    const { provider, answers, closed } = heldProvider("env");
    const { resolver } = open([provider]);
    const asking = resolver.resolve(reference("secret://env/HOME_TOWN"));
    await settle();
    answers.get("HOME_TOWN")?.resolve("Paris");
    expect(await asking).toBe("Paris");
    expect(await open([]).resolver.resolve(reference("secret://env/HOME_TOWN"))).toBe("Berlin");
    await resolver.close();
    expect(closed()).toBe(1);
  });

  it("that are still asked when all is closed are told, and nobody waits on", async () => {
    const { provider, signals } = heldProvider();
    const { resolver } = open([provider]);
    const failing = failureOf(resolver.resolve(reference("secret://held/a")));
    await settle();
    await resolver.close();
    expect(await failing).toMatchObject({ code: "CANCELLED" });
    expect(signals[0]?.aborted).toBe(true);
  });

  it("get other settings, with which everything is asked for again", async () => {
    const { resolver } = open([], { settings: { exec: {} } });
    const ask = async () =>
      (await failureOf(resolver.resolve(reference("secret://exec/helpr/b")))).hint;
    expect(await ask()).toBe("add secrets.exec.helpr with its command");
    resolver.reconfigure({ exec: { helper: { command: "/x" } } });
    expect(await ask()).toBe("did you mean 'helper'?");
  });

  it.each([
    ["as it is", "s3cret/value+1"],
    ["in base64", btoa("s3cret/value+1")],
    ["in a URL", encodeURIComponent("s3cret/value+1")],
  ])("that repeat a value %s which they cannot store are not quoted", async (_, told) => {
    const store = async (): Promise<SecretReference> => {
      throw secretUnavailable(`my tool failed: POST {"payload":"${told}"}`, { hint: "log in" });
    };
    const { resolver, values } = open([{ name: "my", resolve: async () => "x", store }]);
    const error = await failureOf(resolver.store("my", "a", "s3cret/value+1"));
    expect(inspect(error)).not.toContain(told);
    expect(error.message).toContain("its words are not shown");
    // Whatever else is written meanwhile is redacted.
    expect(values).toEqual(["s3cret/value+1"]);
  });

  it("that only read take no value", async () => {
    const { resolver } = open([]);
    expect(await failureOf(resolver.store("env", "a", "b"))).toMatchObject({
      code: "UNSUPPORTED",
      message: "values cannot be put into 'env'",
    });
  });
});
