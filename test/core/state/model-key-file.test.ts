import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { beforeEach, expect, it } from "vitest";
import type { GivenKey } from "../../../src/core/types/model-keys.ts";
import { ModelKeyFile } from "../../../src/core/state/model-key-file.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory: string;
let file: ModelKeyFile;

beforeEach(() => {
  directory = temporaryDirectory();
  file = new ModelKeyFile(directory);
});

const key = (text: string): GivenKey => ({ kind: "key", key: text });

const stored = async () =>
  Object.fromEntries(
    [...(await file.read())].map(([provider, given]) => [
      provider,
      given.kind === "key" ? given.key : given,
    ]),
  );

it("keeps one key for each provider, for whoever reads next", async () => {
  await file.store("openai", key("first"));
  await Promise.all([file.store("anthropic", key("a")), file.store("openai", key("second"))]);
  expect(await stored()).toEqual({ openai: "second", anthropic: "a" });
  expect(new ModelKeyFile(directory).readNow()).toEqual(["second", "a"]);
});

it("keeps a reference beside keys, and does not take it for a key", async () => {
  const reference: GivenKey = { kind: "reference", reference: "secret://keyring/a/b", since: 7 };
  await file.store("openai", reference);
  await file.store("google", key("g"));
  expect(await stored()).toEqual({ openai: reference, google: "g" });
  expect(file.readNow()).toEqual(["g"]);
});

it.runIf(process.platform !== "win32")("is only for its owner, also after it was not", async () => {
  await file.store("openai", key("k"));
  await chmod(file.path, 0o644);
  await file.store("google", key("k"));
  expect((await stat(file.path)).mode & 0o777).toBe(0o600);
});

it.each<[string, string | undefined, string[], object]>([
  ["one", "openai", ["openai"], { google: "g" }],
  ["one that is not there", "anthropic", [], { openai: "o", google: "g" }],
  ["all", undefined, ["openai", "google"], {}],
])("forgets %s", async (_, provider, forgotten, left) => {
  await file.store("openai", key("o"));
  await file.store("google", key("g"));
  expect([...(await file.forget(provider)).keys()]).toEqual(forgotten);
  expect(await stored()).toEqual(left);
});

it("leaves no file without a key", async () => {
  await file.store("openai", key("o"));
  await file.forget("openai");
  expect(await readdir(directory)).toEqual([]);
});

it.each([
  "",
  "{",
  "[]",
  '{"format":2,"keys":{"openai":"k"}}',
  '{"format":1,"keys":{"openai":7,"google":""}}',
  '{"format":1,"keys":{"openai":{"reference":7},"google":{"reference":"secret://a/b"}}}',
])("has no key in a file with %j, and takes one", async (text) => {
  await writeFile(file.path, text);
  expect(await stored()).toEqual({});
  await file.store("openai", key("k"));
  expect(await stored()).toEqual({ openai: "k" });
});
