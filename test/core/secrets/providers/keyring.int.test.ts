import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunProgram } from "../../../../src/core/types/secret-provider.ts";
import { createKeyringProvider } from "../../../../src/core/secrets/providers/keyring.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { context, failureOf, fakePrograms, reference, surroundings } from "../programs.ts";

/** A keyring that keeps one file for each entry, as the command of the system does it. */
const SECRET_TOOL = `case "$1" in
  lookup) cat "$0.$3.$5" 2>/dev/null || exit 1 ;;
  store) cat > "$0.$4.$6"; printf '%s,' "$@" >> "$0.args" ;;
  clear) [ "$3" = locked ] && { echo 'it is locked' >&2; exit 1; }; rm "$0.$3.$5" 2>/dev/null || exit 1 ;;
esac`;

/** The same for macOS; its path is fixed, so the test puts its own in that place. */
const SECURITY = `if [ "$1" = -i ]; then
  read -r line
  printf '%s' "$line" > "$0.line"
  printf '%s,' "$@" >> "$0.args"
else
  printf '%s,' "$@"
  [ "$3" = none ] && { echo 'could not be found' >&2; exit 44; }
  [ "$3" = locked ] && { echo 'it is locked' >&2; exit 51; }
  echo
fi`;

async function keyring(platform: NodeJS.Platform, settings: { service?: string } = {}) {
  const directory = await fakePrograms({ "secret-tool": SECRET_TOOL, security: SECURITY });
  const around = surroundings(directory, { platform });
  const run: RunProgram = (command, args, options) =>
    around.run(command.replace("/usr/bin", directory), args, options);
  return { directory, provider: createKeyringProvider(settings, { platform, run }) };
}

describe("on Linux, an entry of the keyring", () => {
  it("is found by its service and account, as it was put there through stdin", async () => {
    const { provider, directory } = await keyring("linux");
    const stored = await provider.store?.("github", "hunter2 ✓\nhunter2", context());
    expect(provider.place?.("github")).toEqual(stored);
    expect(stored).toEqual({
      provider: "keyring",
      path: "plugboard/github",
      text: "secret://keyring/plugboard/github",
    });
    expect(await provider.resolve(reference(stored?.text ?? ""), context())).toBe(
      "hunter2 ✓\nhunter2",
    );
    expect(await readFile(join(directory, "secret-tool.args"), "utf8")).toBe(
      "store,--label=plugboard (github),service,plugboard,account,github,",
    );
  });

  it("may have a slash in its names", async () => {
    const { provider } = await keyring("linux");
    const error = await failureOf(provider.resolve(reference("secret://keyring/a/b/c"), context()));
    expect(error).toMatchObject({
      message: "expected secret://keyring/<service>/<account>",
      hint: "write %2F for a slash in a name",
    });
    const missing = reference("secret://keychain/https:%2F%2Fa.example/me");
    expect(await failureOf(provider.resolve(missing, context()))).toMatchObject({
      message: "the keyring has no such entry",
      hint: "to add it: secret-tool store --label=https://a.example service https://a.example account me",
      permanent: true,
    });
  });

  it.each(["secret://keyring/--all/me", "secret://keyring/a/-x", "secret://keyring/%2Dx/me"])(
    "has no name that the command would take for an option: %s",
    async (text) => {
      const { provider } = await keyring("linux");
      expect(await failureOf(provider.resolve(reference(text), context()))).toMatchObject({
        message: 'a name that begins with "-" would be an option of the command',
        permanent: true,
      });
    },
  );

  it("that is locked may be there later", async () => {
    const directory = await fakePrograms({
      "secret-tool": "echo 'Cannot autolaunch D-Bus without X11 $DISPLAY' >&2; exit 1",
    });
    const provider = createKeyringProvider({}, surroundings(directory));
    expect(
      await failureOf(provider.resolve(reference("secret://keyring/a/b"), context())),
    ).toMatchObject({
      message: "the keyring cannot be read: Cannot autolaunch D-Bus without X11 $DISPLAY",
      permanent: false,
    });
  });

  it("needs secret-tool", async () => {
    const directory = temporaryDirectory();
    const around = surroundings(directory);
    const run: RunProgram = (command, args, options) =>
      around.run(join(directory, command), args, options);
    const provider = createKeyringProvider({}, { platform: "linux", run });
    expect(
      await failureOf(provider.resolve(reference("secret://keyring/a/b"), context())),
    ).toMatchObject({
      message: "the command secret-tool is not there",
      hint: "install it: apt install libsecret-tools, dnf install libsecret",
    });
  });
});

describe("on macOS, an entry of the keychain", () => {
  it("is looked up with security", async () => {
    const { provider } = await keyring("darwin");
    expect(await provider.resolve(reference("secret://keychain/git hub/me"), context())).toBe(
      "find-generic-password,-s,git hub,-a,me,-w,",
    );
    expect(
      await failureOf(provider.resolve(reference("secret://keychain/none/me"), context())),
    ).toMatchObject({
      message: "the keyring has no such entry",
      hint: "to add it: security add-generic-password -s none -a me -w",
      permanent: true,
    });
  });

  it("is put there through stdin, in hex", async () => {
    const { provider, directory } = await keyring("darwin", { service: "my board" });
    const stored = await provider.store?.("docs/TOKEN", 'hun"ter2', context());
    expect(stored?.text).toBe("secret://keyring/my%20board/docs%2FTOKEN");
    expect(await readFile(join(directory, "security.line"), "utf8")).toBe(
      `add-generic-password -U -s "my board" -a "docs/TOKEN" -X ${Buffer.from('hun"ter2').toString("hex")}`,
    );
    expect(await readFile(join(directory, "security.args"), "utf8")).toBe("-i,");
    const wrong = provider.store?.('a" -w b', "x", context()) ?? Promise.resolve();
    expect(await failureOf(wrong)).toMatchObject({
      message: "a name in the keyring has only letters, digits and . : @ / + - _",
    });
  });
});

it.each<NodeJS.Platform>(["linux", "darwin"])(
  "on %s an entry is removed, and one that is not there is no failure",
  async (platform) => {
    const { provider } = await keyring(platform);
    const remove = (text: string) =>
      provider.remove?.(reference(text), context()) ?? Promise.reject(new Error("it cannot"));
    const stored = await provider.store?.("github", "hunter2", context());
    await remove(stored?.text ?? "");
    if (platform === "linux") {
      const again = provider.resolve(reference(stored?.text ?? ""), context());
      expect(await failureOf(again)).toMatchObject({ message: "the keyring has no such entry" });
    }
    await remove("secret://keyring/none/me");
    expect(await failureOf(remove("secret://keyring/locked/me"))).toMatchObject({
      message: "the keyring cannot be read: it is locked",
    });
  },
);

it("on Windows it says what to use instead", async () => {
  const { provider } = await keyring("win32");
  expect(
    await failureOf(provider.resolve(reference("secret://keyring/a/b"), context())),
  ).toMatchObject({
    message: "the keyring of Windows is not supported",
    hint: "use another provider, such as op, or a helper program with exec",
    permanent: true,
  });
});
