import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileProvider } from "../../../../src/core/secrets/providers/file.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { context, failureOf, reference, surroundings } from "../programs.ts";

async function directoryWith(files: Record<string, string | Buffer>): Promise<string> {
  const directory = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(directory, name), content, { mode: 0o600 });
  }
  return directory;
}

const ENV_FILE = `# comment
export TOKEN="with space"
PLAIN=abc=def # not this
QUOTED='$not'
`;

describe("a secret in a file", () => {
  it.each([
    ["secret://file/token", "s3cret-s3cret"],
    ["secret://file/~/token", "s3cret-s3cret"],
    ["secret://file/all.json#github", "gh-token"],
    ["secret://file/all.json#deep", '{"a":1}'],
    ["secret://file/.env#TOKEN", "with space"],
    ["secret://file/.env#PLAIN", "abc=def"],
    ["secret://file/.env#QUOTED", "$not"],
  ])("%s", async (text, expected) => {
    const baseDir = await directoryWith({
      token: "s3cret-s3cret\n",
      "all.json": '{ "github": "gh-token", "deep": { "a": 1 } }',
      ".env": ENV_FILE,
    });
    const warnings: string[] = [];
    const around = surroundings(baseDir, { warn: (message) => warnings.push(message) });
    const provider = createFileProvider({}, around);
    expect(await provider.resolve(reference(text), { ...context(), baseDir })).toBe(expected);
    const absolute = reference(text.replace("secret://file/", `secret://file/${baseDir}/`));
    if (!text.includes("~")) expect(await provider.resolve(absolute, context())).toBe(expected);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["secret://file/none", /^there is no file .*\/none$/],
    ["secret://file/token/x", /^there is no file/],
    ["secret://file/sub", /^the file .* cannot be read: .*not a regular file|is a directory/],
    ["secret://file/large", /has more than 64 KiB$/],
    ["secret://file/binary", /^the value is binary data, not text$/],
    ["secret://file/all.json#none", /^there is no key "none"; the keys are "github"$/],
    ["secret://file/broken.json#a", /^the file is not valid JSON$/],
    [
      "secret://file/.env#NONE",
      /^there is no key "NONE"; the keys are "PLAIN", "QUOTED", "TOKEN"$/,
    ],
  ])("%s is refused", async (text, message) => {
    const baseDir = await directoryWith({
      token: "x",
      large: "x".repeat(64 * 1024 + 1),
      binary: Buffer.from([0x41, 0xff, 0xfe]),
      "all.json": '{ "github": "gh-token" }',
      "broken.json": '{ "a": "gh-token"',
      ".env": ENV_FILE,
    });
    await mkdir(join(baseDir, "sub"));
    const provider = createFileProvider({}, surroundings(baseDir));
    const error = await failureOf(provider.resolve(reference(text), { ...context(), baseDir }));
    expect(error).toMatchObject({ code: "SECRET_UNAVAILABLE", permanent: true });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("gh-token");
  });

  it.each([
    ["a token in base64", "aHVudGVyMmh1bnRlcjI=", "there are no keys"],
    ["a token with more padding", "SFVOVEVSMkhVTlRFUjI==\n", "there are no keys"],
    ["a password", "hunter2=hunter2", "there are no keys"],
    [
      "a private key",
      "-----BEGIN X-----\nHUNTERHUNTERHUNTER\nHUNTER==\n-----END X-----\n",
      "there are no keys",
    ],
    ["variables and a token", "TOKEN=hunter2\naHVudGVyMg==\n", 'the keys are "TOKEN"'],
  ])("names no part of the value as a key: %s", async (_, content, told) => {
    const baseDir = await directoryWith({ token: content });
    const provider = createFileProvider({}, surroundings(baseDir));
    const asked = provider.resolve(reference("secret://file/token#key"), { ...context(), baseDir });
    expect((await failureOf(asked)).message).toBe(`there is no key "key"; ${told}`);
  });

  it("names the slash that an absolute path needs", async () => {
    const baseDir = await directoryWith({ token: "x" });
    const provider = createFileProvider({}, surroundings(baseDir));
    const text = `secret://file/${join(baseDir, "token").slice(1)}`;
    const error = await failureOf(provider.resolve(reference(text), { ...context(), baseDir }));
    expect(error.hint).toBe(`for ${baseDir}/token write secret://file/${baseDir}/token`);
  });

  it("draws a warning if every user can read it", async () => {
    const baseDir = await directoryWith({ token: "s3cret-s3cret" });
    await chmod(join(baseDir, "token"), 0o644);
    const warnings: string[] = [];
    const around = surroundings(baseDir, { warn: (message) => warnings.push(message) });
    const provider = createFileProvider({}, around);
    await provider.resolve(reference("secret://file/token"), { ...context(), baseDir });
    expect(warnings).toEqual([
      `every user of this machine can read the secrets in ${baseDir}/token: run chmod 600 on it`,
    ]);
  });
});

describe("a value that is put into a file", () => {
  it("is found by the reference it gets, beside those before, and only its owner can read it", async () => {
    const home = temporaryDirectory();
    const provider = createFileProvider({ path: "~/new/secrets.json" }, surroundings(home));
    const first = await provider.store?.("github-TOKEN", "one ✓\n", context());
    const second = await provider.store?.("jira", "two", context());
    await provider.store?.("jira", "three", context());
    expect(provider.place?.("github-TOKEN")).toEqual(first);
    expect(first?.text).toBe("secret://file/~/new/secrets.json#github-TOKEN");
    expect(await provider.resolve(reference(first?.text ?? ""), context())).toBe("one ✓\n");
    expect(await provider.resolve(reference(second?.text ?? ""), context())).toBe("three");
    const file = join(home, "new/secrets.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(await readFile(file, "utf8")))).toEqual(["github-TOKEN", "jira"]);
  });

  it("never replaces a file that is something else", async () => {
    const home = await directoryWith({ "secrets.json": "not JSON" });
    const provider = createFileProvider({ path: "~/secrets.json" }, surroundings(home));
    const error = await failureOf(
      provider.store?.("a", "hunter2-hunter2", context()) ?? Promise.resolve(),
    );
    expect(error.message).toBe(
      `the file ${home}/secrets.json is there, and is not a JSON object of secrets`,
    );
    expect(await readFile(join(home, "secrets.json"), "utf8")).toBe("not JSON");
  });

  it.each<[NodeJS.Platform, string, string, string]>([
    ["linux", "/home/me", "/home/me/a/s.json", "~/a/s.json"],
    ["linux", "/home/me", "/srv/s.json", "/srv/s.json"],
    ["win32", "C:\\Users\\me", "C:\\Users\\me\\a\\s.json", "~/a/s.json"],
    ["win32", "C:\\Users\\me", "D:\\s.json", "D:\\s.json"],
  ])("on %s, with the home %s, %s is named so that it is found again", async (...given) => {
    const [platform, homedir, path, expected] = given;
    const around = { ...surroundings(temporaryDirectory(), {}), homedir, platform };
    const { text } = createFileProvider({ path }, around).place?.("KEY") ?? {};
    expect(text).toBe(`secret://file/${expected}#KEY`);
  });
});
