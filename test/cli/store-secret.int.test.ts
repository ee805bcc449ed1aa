// Where a value goes: what is configured, the keyring of this machine, or a file.

import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startVaultService, type VaultService } from "../fixtures/secrets/vault-service.ts";
import { useScratch } from "./harness.ts";

const scratch = useScratch();

const TOKEN = "hunter2-hunter2-hunter2";

/** Keeps one file for each entry. */
const KEYRING = `#!/bin/sh
case "$1" in
  lookup) /bin/cat "$0.$3.$5" 2>/dev/null || exit 1 ;;
  store) /bin/cat > "$0.$4.$6" ;;
esac
`;

const LOCKED = "#!/bin/sh\necho 'no D-Bus session' >&2\nexit 1\n";

let vault: VaultService;

beforeAll(async () => {
  vault = await startVaultService();
  vault.tokens.set("writer", {});
  vault.mounts.set("secret", { version: 2, type: "kv", secrets: new Map() });
});

afterAll(async () => vault.close());

function keyring(script: string): string {
  mkdirSync(join(scratch.directory, "bin"));
  const program = scratch.file("bin/secret-tool", script);
  chmodSync(program, 0o755);
  return program;
}

async function moved(secrets: object, ...argv: string[]): Promise<{ code: number; text: string }> {
  const config = { mcpServers: { db: { command: "db", env: { TOKEN } } }, secrets };
  const file = scratch.file("own.json", config);
  const env = { PATH: join(scratch.directory, "bin"), VAULT_TOKEN: "writer" };
  const { code, stdout, stderr } = await scratch.run(
    ["secrets", "move", "db", "TOKEN", "--yes", "--config", file, ...argv],
    { env },
  );
  const { code: checked } = await scratch.run(["secrets", "check", "--config", file], { env });
  expect(stdout + stderr).not.toContain(TOKEN);
  expect(checked).toBe(0);
  return { code, text: scratch.read("own.json") + stderr };
}

describe("a value goes", () => {
  it.runIf(process.platform === "linux").each([
    ["to the keyring of this machine", KEYRING, {}, [], "secret://keyring/plugboard/db-TOKEN"],
    ["to a file where the keyring does not work", LOCKED, {}, [], "secrets.json#db-TOKEN"],
    ["to a file that is configured", KEYRING, { file: {} }, [], "secrets.json#db-TOKEN"],
    ["where it is told to", KEYRING, {}, ["--to", "file"], "secrets.json#db-TOKEN"],
  ])("%s", async (_, script, secrets, argv, expected) => {
    const program = keyring(script);
    const { code, text } = await moved(secrets, ...argv);
    expect(code).toBe(0);
    expect(text).toContain(expected);
    if (expected.includes("keyring")) {
      expect(readFileSync(`${program}.plugboard.db-TOKEN`, "utf8")).toBe(TOKEN);
    }
  });

  it("to the first provider that is configured", async () => {
    const settings = { vault: { address: vault.address }, keyring: {}, file: {} };
    const { code, text } = await moved(settings, "--name", "prod/db");
    expect(code).toBe(0);
    expect(text).toContain('"secret://vault/secret/plugboard/prod/db#value"');
  });

  it("nowhere if the provider refuses it", async () => {
    vault.tokens.set("reader", { policies: ["sys/"] });
    const config = {
      mcpServers: { db: { command: "db", env: { TOKEN } } },
      secrets: { vault: { address: vault.address } },
    };
    const file = scratch.file("own.json", config);
    const { code, stderr } = await scratch.run(
      ["secrets", "move", "db", "TOKEN", "--yes", "--config", file],
      { env: { VAULT_TOKEN: "reader" } },
    );
    expect(code).toBe(3);
    expect(stderr).toContain("the value cannot be put into vault: ");
    expect(stderr).toContain("the configuration has not changed");
    expect(JSON.parse(scratch.read("own.json"))).toEqual(config);
  });
});
