import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import type { ContentChange } from "../../../../src/core/types/server-content.ts";
import {
  LiveContent,
  type LiveContentOptions,
} from "../../../../src/core/upstream/connection/live-content.ts";

const EVERYTHING = { resources: { subscribe: true }, prompts: {}, completions: {} };

type Answer = (method: string, params: JsonObject) => unknown;

/** Content over a wire that is answered by hand. */
function content(answer: Answer, options: Partial<LiveContentOptions> = {}) {
  const sent: [string, JsonObject][] = [];
  const made = new LiveContent({
    server: "docs",
    timeout: 1000,
    capabilities: EVERYTHING,
    wire: {
      async request(method, params) {
        sent.push([method, params]);
        return answer(method, params);
      },
    },
    changes: undefined,
    send: (ask, given) => ask(given),
    redact: (text) => text,
    ...options,
  });
  return { content: made, sent };
}

function rpcError(code: number): PlugboardError {
  return new PlugboardError("SERVER_ERROR", "no", { cause: { error: { code } } });
}

/** A stream that covers all but the URIs it is told to refuse. */
function fakeChanges(refused: readonly string[] = []) {
  const wanted: string[][] = [];
  const changes = {
    async subscribe(uris: ReadonlySet<string>) {
      wanted.push([...uris]);
    },
    covers: (uri: string) => !refused.includes(uri),
  };
  return { changes, wanted };
}

describe("the content", () => {
  it.each<[unknown, string[]]>([
    [undefined, []],
    [{ resources: true, prompts: null }, []],
    [{ resources: {} }, ["resources"]],
    [{ resources: { subscribe: true } }, ["resources", "subscriptions"]],
    [{ prompts: {}, completions: {} }, ["prompts", "completions"]],
  ])("is what the server advertises: %j", (capabilities, expected) => {
    const { has } = content(() => ({}), { capabilities }).content;
    expect(Object.entries(has).flatMap(([key, value]) => (value ? key : []))).toEqual(expected);
  });

  it("is not requested if the server has none", async () => {
    const { content: none, sent } = content(() => ({}), { capabilities: {} });
    expect(await none.listResources()).toEqual({ resources: [], templates: [], diagnostics: [] });
    expect(await none.listPrompts()).toEqual({ prompts: [], diagnostics: [] });
    expect(sent).toEqual([]);
  });

  it("is empty if the server advertises a list that it does not know", async () => {
    const { content: empty } = content(() => {
      throw rpcError(-32601);
    });
    expect(await empty.listResources()).toEqual({
      resources: [],
      templates: [],
      diagnostics: [
        {
          server: "docs",
          message: "the server advertises resources but does not know resources/list",
        },
      ],
    });
    expect(await empty.listPrompts()).toEqual({
      prompts: [],
      diagnostics: [
        { server: "docs", message: "the server advertises prompts but does not know prompts/list" },
      ],
    });
  });

  it.each(["resources/list", "resources/templates/list"])(
    "is not known where %s fails otherwise",
    async (method) => {
      const { content: failing } = content((asked) => {
        if (asked === method) throw rpcError(-32603);
        return { resources: [], resourceTemplates: [] };
      });
      await expect(failing.listResources()).rejects.toMatchObject({ code: "SERVER_ERROR" });
    },
  );

  it("is read page by page", async () => {
    const { content: paged, sent } = content((method, { cursor }) => {
      if (method !== "prompts/list") return {};
      return cursor === undefined
        ? { prompts: [{ name: "a" }], nextCursor: "2" }
        : { prompts: [{ name: "b" }] };
    });
    expect((await paged.listPrompts()).prompts).toEqual([{ name: "a" }, { name: "b" }]);
    expect(sent).toEqual([
      ["prompts/list", {}],
      ["prompts/list", { cursor: "2" }],
    ]);
    await expect(
      content(() => {
        throw rpcError(-32603);
      }).content.listPrompts(),
    ).rejects.toMatchObject({ code: "SERVER_ERROR" });
  });
});

describe("a request", () => {
  const request = { timeout: 5 };

  it("has the protocol's form", async () => {
    const { content: asked, sent } = content((method) => method);
    expect(await asked.readResource("a:1", request)).toBe("resources/read");
    expect(await asked.getPrompt("p", { who: "x" }, request)).toBe("prompts/get");
    const of = { type: "ref/prompt", name: "p" } as const;
    await asked.complete({ of, argument: "who", value: "A", known: {} }, request);
    await asked.complete({ of, argument: "who", value: "A", known: { b: "c" } }, request);
    expect(sent).toEqual([
      ["resources/read", { uri: "a:1" }],
      ["prompts/get", { name: "p", arguments: { who: "x" } }],
      ["completion/complete", { ref: of, argument: { name: "who", value: "A" } }],
      [
        "completion/complete",
        {
          ref: of,
          argument: { name: "who", value: "A" },
          context: { arguments: { b: "c" } },
        },
      ],
    ]);
  });

  it("is made again with the answers that the server wants", async () => {
    const { content: asked, sent } = content(() => ({}), {
      send: async (ask, given) => {
        await ask(given);
        return ask({ ...given, extra: { inputResponses: { a: 1 } } });
      },
    });
    await asked.readResource("a:1", request);
    expect(sent).toEqual([
      ["resources/read", { uri: "a:1" }],
      ["resources/read", { uri: "a:1", inputResponses: { a: 1 } }],
    ]);
  });
});

describe("a subscription", () => {
  it("of the legacy era is a request", async () => {
    const { content: subscribed, sent } = content(() => ({}));
    await subscribed.subscribe("a:1");
    await subscribed.subscribe("a:1");
    await subscribed.unsubscribe("a:1");
    await subscribed.unsubscribe("a:1");
    expect(sent).toEqual([
      ["resources/subscribe", { uri: "a:1" }],
      ["resources/unsubscribe", { uri: "a:1" }],
    ]);
  });

  it("of 2026-07-28 goes to the change stream", async () => {
    const { changes, wanted } = fakeChanges(["a:3"]);
    const { content: subscribed, sent } = content(() => ({}), { changes });
    await subscribed.subscribe("a:1");
    await subscribed.subscribe("a:2");
    await expect(subscribed.subscribe("a:3")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await subscribed.unsubscribe("a:1");
    expect(wanted).toEqual([["a:1"], ["a:1", "a:2"], ["a:1", "a:2", "a:3"], ["a:2"]]);
    expect(sent).toEqual([]);
  });

  it("is refused without the capability, and above the limit", async () => {
    const { content: without } = content(() => ({}), { capabilities: { resources: {} } });
    await expect(without.subscribe("a:1")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    const { content: full } = content(() => ({}));
    for (let each = 0; each < 4000; each += 1) await full.subscribe(`a:${each}`);
    await expect(full.subscribe("b:1")).rejects.toThrow("4000 subscriptions");
  });

  it("that is refused is forgotten", async () => {
    const heard: ContentChange[] = [];
    const { content: refused } = content(() => {
      throw rpcError(-32603);
    });
    refused.onChange((change) => heard.push(change));
    await expect(refused.subscribe("a:1")).rejects.toMatchObject({ code: "SERVER_ERROR" });
    refused.heard({ kind: "updated", uri: "a:1" });
    expect(heard).toEqual([]);
  });
});

describe("a change", () => {
  function hearing(options: Partial<LiveContentOptions> = {}) {
    const heard: string[] = [];
    const made = content(() => ({}), options);
    made.content.onChange((change) =>
      heard.push(change.kind === "updated" ? change.uri : change.kind),
    );
    return { ...made, heard };
  }

  it("is passed on, an update only of what is subscribed to or a part of it", async () => {
    const { content: changing, heard } = hearing();
    await changing.subscribe("a:1");
    changing.heard({ kind: "resources" });
    changing.heard({ kind: "prompts" });
    for (const uri of ["a:1", "a:1/part", "a:2", `a:1${"x".repeat(5000)}`]) {
      changing.heard({ kind: "updated", uri });
    }
    expect(heard).toEqual(["resources", "prompts", "a:1", "a:1/part"]);
    changing.end();
    changing.heard({ kind: "resources" });
    expect(heard).toHaveLength(4);
  });

  it("is reported for everything, and subscribed to again, if the server has forgotten us", async () => {
    const { content: renewed, heard, sent } = hearing();
    await renewed.subscribe("a:1");
    await renewed.renew();
    expect(heard).toEqual(["resources", "prompts", "a:1"]);
    expect(sent.map(([method]) => method)).toEqual(["resources/subscribe", "resources/subscribe"]);
  });

  it("is reported for everything if we did not listen", async () => {
    const { changes } = fakeChanges();
    const { content: renewed, heard, sent } = hearing({ changes });
    await renewed.subscribe("a:1");
    await renewed.renew();
    expect(heard).toEqual(["resources", "prompts", "a:1"]);
    expect(sent).toEqual([]);
  });
});
