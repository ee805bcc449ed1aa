import { describe, expect, it } from "vitest";
import { openModel } from "../../../src/agent/loop/model.ts";
import type { GivenKey } from "../../../src/core/types/model-keys.ts";
import { IMAGES_AND_PDF, IMAGES_AFTER_RESULTS } from "../../../src/agent/loop/provider.ts";

const failure = (id: string, options = {}): Promise<unknown> =>
  openModel(id, { env: {}, ...options }).then(
    () => expect.unreachable("a model was opened"),
    (error: unknown) => error,
  );

describe("a model's id", () => {
  it.each([
    ["anthropic/claude-sonnet-5", { ANTHROPIC_API_KEY: "k" }, "anthropic", IMAGES_AND_PDF, 200_000],
    ["openai/gpt-5", { OPENAI_API_KEY: "k" }, "openai", IMAGES_AND_PDF, 128_000],
    [
      "google/gemini-3-pro",
      { GOOGLE_GENERATIVE_AI_API_KEY: "k" },
      "google",
      IMAGES_AND_PDF,
      1_000_000,
    ],
    ["ollama/qwen3:8b", {}, "generic", IMAGES_AFTER_RESULTS, 32_000],
    ["ollama/library/qwen3", {}, "generic", IMAGES_AFTER_RESULTS, 32_000],
  ])("%s opens one", async (id, env, schemas, media, contextWindow) => {
    const model = await openModel(id, { env });
    expect(model).toMatchObject({ id, schemas, media, contextWindow });
    expect(model.languageModel).toMatchObject({ modelId: id.slice(id.indexOf("/") + 1) });
  });

  it.each(["", "gpt-5", "/gpt-5", "openai/"])("%j names none", async (id) => {
    expect(await failure(id)).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: `'${id}' does not name a model`,
      hint: "write provider/model, as in anthropic/claude-sonnet-5",
    });
  });
});

describe("a provider", () => {
  it("that is not known is named, with what may have been meant", async () => {
    expect(await failure("antropic/x")).toMatchObject({
      code: "NO_MODEL",
      message: "no model provider is named 'antropic'",
      hint: "did you mean 'anthropic'?",
    });
    expect(await failure("zzz/x")).toMatchObject({
      hint: "there are anthropic, openai, google, ollama; others are configured in models.providers",
    });
    expect(await failure("__proto__/x")).toMatchObject({ code: "NO_MODEL", permanent: true });
  });

  it("may be configured, with values from the environment", async () => {
    const providers = {
      mine: {
        type: "openai-compatible" as const,
        baseUrl: "http://${MODEL_HOST:-127.0.0.1:1234}/v1",
        apiKey: "${MY_KEY}",
        contextWindow: 8000,
      },
    };
    const model = await openModel("mine/m", { env: { MY_KEY: "s3cret" }, providers });
    const blind = { mine: { ...providers.mine, images: false } };
    const { media } = await openModel("mine/m", { env: { MY_KEY: "k" }, providers: blind });
    expect(media).toEqual({ prompts: {}, results: {} });
    expect(model.contextWindow).toBe(8000);
    expect(model.redact("key s3cret is wrong")).toBe("key [key] is wrong");
    expect(await failure("mine/m", { providers })).toMatchObject({
      code: "NEEDS_AUTH",
      permanent: true,
      message:
        "the model provider 'mine' has no key: models.providers.mine.apiKey needs the variable MY_KEY, which is not set",
      hint: "export MY_KEY",
    });
  });

  it.each([
    [
      "secret://env/NO_SUCH_KEY",
      "NEEDS_AUTH",
      "the model provider 'mine' has no key: models.providers.mine.apiKey needs secret://env/NO_SUCH_KEY: the variable NO_SUCH_KEY is not set",
    ],
    ["${", "CONFIG_INVALID", 'models.providers.mine.apiKey has "${" without a closing "}"'],
  ])("with the key %s cannot be used", async (apiKey, code, message) => {
    const providers = { mine: { type: "openai" as const, apiKey } };
    expect(await failure("mine/m", { providers })).toMatchObject({ code, message });
  });

  it("may have a key that is a secret, which is got again when it is refused", async () => {
    const env: Record<string, string> = { MY_KEY: "the-first-key", MY_TENANT: "the-tenant" };
    const sent: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      const given = new Headers(init?.headers).get("authorization");
      sent.push(given);
      const isValid = given === `Bearer ${env["MY_KEY"]}`;
      return new Response(isValid ? "{}" : "refused", { status: isValid ? 200 : 401 });
    };
    const providers = {
      mine: {
        type: "openai-compatible" as const,
        baseUrl: "http://127.0.0.1:1/${secret://env/MY_TENANT}/v1",
        apiKey: "${secret://env/MY_KEY}",
      },
    };
    const told = new Set<string>();
    const onSecret = (secret: string): void => void told.add(secret);
    const model = await openModel("mine/m", { env, providers, fetch, onSecret });
    const ask = (): Promise<unknown> =>
      model.sdk
        .generateText({ model: model.languageModel, prompt: "x", maxRetries: 0 })
        .catch(() => undefined);
    await ask();
    env["MY_KEY"] = "the-other-key";
    await ask();
    await ask();
    env["MY_KEY"] = "";
    await ask();
    const [first, other] = ["Bearer the-first-key", "Bearer the-other-key"];
    expect(sent).toEqual([first, first, other, other, other]);
    const text = "the-first-key the-other-key http://127.0.0.1:1/the-tenant/v1";
    expect(model.redact(text)).toBe("[key] [key] http://127.0.0.1:1/[secret]/v1");
    expect([...told].toSorted()).toEqual(["the-first-key", "the-other-key", "the-tenant"]);
    await model.close();
  });

  it.each([
    ["anthropic/x", "ANTHROPIC_API_KEY"],
    ["openai/x", "OPENAI_API_KEY"],
    ["google/x", "GEMINI_API_KEY"],
  ])("of %s needs a key", async (id, variable) => {
    const name = id.slice(0, -2);
    expect(await failure(id, { env: { [variable]: "" } })).toMatchObject({
      code: "NEEDS_AUTH",
      permanent: true,
      message: `the model provider '${name}' needs an API key, and ${variable} is not set`,
      hint: `export ${variable}=… (for an editor, put it into "env" of its settings for Plugboard), set models.providers.${name}.apiKey, or run: plugboard acp --sign-in model`,
    });
  });

  it.each([
    ["the one that was given", {}, {}, "given"],
    ["the one that was given, where it is kept", { KEPT: "kept" }, {}, "kept", "secret://env/KEPT"],
    ["the environment's before it", { OPENAI_API_KEY: "set" }, {}, "set"],
    ["the configured one before both", { OPENAI_API_KEY: "set" }, { apiKey: "own" }, "own"],
  ])("has as its key %s", async (_, env, settings, key, reference?: string) => {
    const given: GivenKey =
      reference === undefined
        ? { kind: "key", key: "given" }
        : { kind: "reference", reference, since: 0 };
    const keys = { read: async () => new Map([["openai", given]]) };
    const providers = { openai: { type: "openai" as const, ...settings } };
    const { redact } = await openModel("openai/x", { env, keys, providers });
    const text = "given set own kept";
    expect(redact(text)).toBe(text.replace(key, "[key]"));
  });

  it.each<[string, Record<string, string>, object, string[]]>([
    ["of the environment", { OPENAI_API_KEY: "set" }, {}, ["set"]],
    ["that was given", {}, {}, ["given"]],
    ["of a variable", { MINE: "own" }, { apiKey: "${MINE}" }, ["own"]],
    ["that is written out", {}, { apiKey: "sk-0123456789abcdef" }, ["sk-0123456789abcdef"]],
    // Redacted, it would hide what people say about it.
    ["that is a word", {}, { apiKey: "lm-studio-needs-none" }, []],
  ])("tells the key %s", async (_, env, settings, expected) => {
    const given: GivenKey = { kind: "key", key: "given" };
    const keys = { read: async () => new Map([["openai", given]]) };
    const providers = { openai: { type: "openai" as const, ...settings } };
    const told: string[] = [];
    const onSecret = (secret: string): void => void told.push(secret);
    await openModel("openai/x", { env, keys, providers, onSecret });
    expect(told).toEqual(expected);
  });

  it("cannot be opened without the key that was given, and says how to give it again", async () => {
    const given: GivenKey = { kind: "reference", reference: "secret://env/GONE", since: 0 };
    const keys = { read: async () => new Map([["openai", given]]) };
    await expect(openModel("openai/x", { env: {}, keys })).rejects.toMatchObject({
      code: "NEEDS_AUTH",
      message: expect.stringContaining("the key that you gave for 'openai' cannot be had: "),
    });
  });

  it("whose address is a project's gets no key but its own", async () => {
    const keys = { read: async () => new Map([["openai", "given"]]) };
    const provider = {
      type: "openai" as const,
      baseUrl: "https://a.example",
      needsOwnKey: true as const,
    };
    const env = { OPENAI_API_KEY: "set" };
    expect(await failure("openai/x", { env, keys, providers: { openai: provider } })).toMatchObject(
      {
        code: "NEEDS_AUTH",
        message:
          "the project's file sets the address of the model provider 'openai' and no key, and your own key for openai is not sent to that address",
        hint: `if the address should get it, write "apiKey": "\${OPENAI_API_KEY}" into models.providers.openai of the project's file, or set the same baseUrl in your own file`,
      },
    );
  });

  it("needs no key where the API may do without", async () => {
    const { redact } = await openModel("ollama/x", { env: {} });
    expect(redact("as it is")).toBe("as it is");
  });
});

describe("a package", () => {
  const missing = Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" });

  it.each(["ai", "@ai-sdk/openai-compatible"])(
    "%s that is missing can be installed",
    async (name) => {
      const importPackage = (wanted: string): Promise<object> =>
        wanted === name ? Promise.reject(missing) : import(wanted);
      expect(await failure("ollama/x", { importPackage })).toMatchObject({
        code: "NO_MODEL",
        message: `the package ${name} is not installed`,
        hint: `install it (with -g if Plugboard was installed with -g): npm install ${name === "ai" ? "ai" : `${name} ai`}`,
      });
    },
  );

  it("that does not work is reported differently from one that is missing", async () => {
    expect(await failure("ollama/x", { importPackage: async () => ({}) })).toMatchObject({
      code: "NO_MODEL",
      message: "the installed version of @ai-sdk/openai-compatible does not work with Plugboard",
    });
    const broken = new SyntaxError("unexpected");
    expect(await failure("ollama/x", { importPackage: () => Promise.reject(broken) })).toBe(broken);
  });
});
