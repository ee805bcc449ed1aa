import { expect, it } from "vitest";
import { createOpProvider } from "../../../../src/core/secrets/providers/op.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { context, failureOf, fakePrograms, reference, surroundings } from "../programs.ts";

async function resolve(script: string, text: string, account?: string): Promise<string> {
  const directory = await fakePrograms({ op: script });
  const settings = account === undefined ? {} : { account };
  return createOpProvider(settings, surroundings(directory)).resolve(reference(text), context());
}

it.each([
  ["op://My Vault/item/field", undefined, "read,--no-newline,op://My Vault/item/field,"],
  ["secret://op/v/i/section/f", undefined, "read,--no-newline,op://v/i/section/f,"],
  ["op://v/i/f", "my.1password.com", "read,--no-newline,--account,my.1password.com,op://v/i/f,"],
])("%s is read with 1Password's op", async (text, account, expected) => {
  expect(await resolve('printf "%s," "$@"', text, account)).toBe(expected);
});

it.each([
  [
    `echo '[ERROR] 2026/01/02 03:04:05 "x" isn'"'"'t an item. Specify the item with its UUID' >&2; exit 1`,
    `1Password's op says: "x" isn't an item. Specify the item with its UUID`,
    true,
  ],
  [
    "echo '[ERROR] 2026/01/02 03:04:05 You are not currently signed in.' >&2; exit 1",
    "1Password's op says: You are not currently signed in.",
    true,
  ],
  ["echo 'connection reset' >&2; exit 6", "1Password's op says: connection reset", false],
  ["exit 6", "1Password's op ended with code 6", false],
])("its failure is told: %s", async (script, message, permanent) => {
  expect(await failureOf(resolve(script, "op://v/x/f"))).toMatchObject({
    code: "SECRET_UNAVAILABLE",
    message,
    permanent,
  });
});

it("without it, the error says where to get it", async () => {
  const provider = createOpProvider({}, surroundings(temporaryDirectory()));
  expect(await failureOf(provider.resolve(reference("op://v/i/f"), context()))).toMatchObject({
    message: "1Password's command op is not there",
    hint: "install it (https://developer.1password.com/docs/cli) and sign in, or set OP_SERVICE_ACCOUNT_TOKEN",
    permanent: true,
  });
});

it.each(["op://v/i", "secret://op/v/i/f#key"])(
  "%s is no reference of 1Password's",
  async (text) => {
    expect(await failureOf(resolve("echo", text))).toMatchObject({
      message: "expected op://<vault>/<item>/<field>",
      permanent: true,
    });
  },
);
