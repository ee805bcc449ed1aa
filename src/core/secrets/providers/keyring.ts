// `secret://keyring/service/account`: the keyring of the operating system, through the command that comes with it:
// `secret-tool` on Linux, `security` on macOS. A value that is put there goes through stdin, never through an argument.

import {
  type ProgramResult,
  type ProviderSurroundings,
  type SecretProvider,
  type SecretReference,
  type SecretSettings,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import type { PlugboardError } from "../../types/errors.ts";
import { oneLine, percentDecoded, shellQuoted } from "../../../util/text.ts";
import { requireOutput } from "../program-output.ts";
import { secretText } from "../secret-text.ts";

interface Entry {
  service: string;
  account: string;
}

/** How one system's keyring is asked. */
interface Keyring {
  command: string;
  notFound: string;
  lookUp: (entry: Entry) => string[];
  /** The command that makes an entry, which asks for the value. */
  toAdd: (entry: Entry) => string[];
  isMissing: (result: { code: number | null; stdout: Buffer; stderr: string }) => boolean;
  put: (entry: Entry, value: string) => { args: string[]; input: string };
  remove: (entry: Entry) => string[];
}

const SECRET_TOOL: Keyring = {
  command: "secret-tool",
  notFound: "install it: apt install libsecret-tools, dnf install libsecret",
  lookUp: ({ service, account }) => ["lookup", "service", service, "account", account],
  toAdd: ({ service, account }) => [
    "secret-tool",
    "store",
    `--label=${service}`,
    "service",
    service,
    "account",
    account,
  ],
  isMissing: ({ stdout, stderr }) => stdout.length === 0 && stderr === "",
  put: ({ service, account }, value) => ({
    args: ["store", `--label=${service} (${account})`, "service", service, "account", account],
    input: value,
  }),
  remove: ({ service, account }) => ["clear", "service", service, "account", account],
};

/** "The specified item could not be found in the keychain." */
const ITEM_NOT_FOUND = 44;

const SECURITY: Keyring = {
  command: "/usr/bin/security",
  notFound: "it is a part of macOS",
  lookUp: ({ service, account }) => ["find-generic-password", "-s", service, "-a", account, "-w"],
  toAdd: ({ service, account }) => [
    "security",
    "add-generic-password",
    "-s",
    service,
    "-a",
    account,
    "-w",
  ],
  isMissing: ({ code }) => code === ITEM_NOT_FOUND,
  // In its interactive mode it reads whole commands from stdin; as hex, the value needs no quotes.
  put: ({ service, account }, value) => ({
    args: ["-i"],
    input: `add-generic-password -U -s "${service}" -a "${account}" -X ${Buffer.from(value).toString("hex")}\n`,
  }),
  remove: ({ service, account }) => ["delete-generic-password", "-s", service, "-a", account],
};

/** What can stand between the quotes of such a command. */
const PLAIN = /^[\w .:@/+][\w .:@/+-]*$/;

const DEFAULT_SERVICE = "plugboard";

export function createKeyringProvider(
  { service: own = DEFAULT_SERVICE }: NonNullable<SecretSettings["keyring"]>,
  { run, platform }: Pick<ProviderSurroundings, "run" | "platform">,
): SecretProvider {
  const place = (name: string): SecretReference => {
    const path = `${encodeURIComponent(own)}/${encodeURIComponent(name)}`;
    return { provider: "keyring", path, text: `secret://keyring/${path}` };
  };
  return {
    name: "keyring",
    async resolve(reference, { signal }) {
      const keyring = keyringOf(platform);
      const entry = entryOf(reference);
      const result = await run(keyring.command, keyring.lookUp(entry), { signal });
      return secretText(outputOf(result, keyring, entry));
    },
    async store(name, value, { signal }) {
      const keyring = keyringOf(platform);
      const entry = { service: own, account: name };
      if (!PLAIN.test(own) || !PLAIN.test(name)) {
        throw secretUnavailable("a name in the keyring has only letters, digits and . : @ / + - _");
      }
      const { args, input } = keyring.put(entry, value);
      const result = await run(keyring.command, args, { input, signal });
      outputOf(result, keyring, entry);
      return place(name);
    },
    async remove(reference, { signal }) {
      const keyring = keyringOf(platform);
      const entry = entryOf(reference);
      const result = await run(keyring.command, keyring.remove(entry), { signal });
      if (result.kind === "exited" && keyring.isMissing(result)) return;
      outputOf(result, keyring, entry);
    },
    place,
    async isUsable({ signal }) {
      if (platform === "win32") return false;
      const { command, lookUp, isMissing } = keyringOf(platform);
      const result = await run(command, lookUp({ service: own, account: "plugboard" }), { signal });
      return result.kind === "exited" && (result.code === 0 || isMissing(result));
    },
  };
}

function keyringOf(platform: NodeJS.Platform): Keyring {
  if (platform === "darwin") return SECURITY;
  if (platform !== "win32") return SECRET_TOOL;
  throw secretUnavailable("the keyring of Windows is not supported", {
    hint: "use another provider, such as op, or a helper program with exec",
  });
}

/** A slash in a name is written as `%2F`. */
function entryOf({ path, key }: SecretReference): Entry {
  const [service = "", account = "", ...rest] = path.split("/").map(percentDecoded);
  if (service === "" || account === "" || rest.length > 0 || key !== undefined) {
    throw secretUnavailable("expected secret://keyring/<service>/<account>", {
      hint: "write %2F for a slash in a name",
    });
  }
  if (service.startsWith("-") || account.startsWith("-")) {
    throw secretUnavailable('a name that begins with "-" would be an option of the command');
  }
  return { service, account };
}

function outputOf(result: ProgramResult, keyring: Keyring, entry: Entry): Buffer {
  return requireOutput(result, {
    program: `the command ${keyring.command}`,
    notFound: keyring.notFound,
    failed: (exited): PlugboardError => {
      if (keyring.isMissing(exited)) {
        return secretUnavailable("the keyring has no such entry", {
          hint: `to add it: ${keyring.toAdd(entry).map(shellQuoted).join(" ")}`,
        });
      }
      const said = oneLine(exited.stderr, 200);
      const why = said === "" ? `${keyring.command} ended with code ${exited.code}` : said;
      // Somebody may have to unlock it.
      return secretUnavailable(`the keyring cannot be read: ${why}`, { permanent: false });
    },
  });
}
