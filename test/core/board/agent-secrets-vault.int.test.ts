// The credentials in a provider's settings, which are references themselves.

import { afterEach, beforeEach, expect, it } from "vitest";
import { AgentSecrets } from "../../../src/core/board/agent-secrets.ts";
import type { SecretSettings } from "../../../src/core/types/secret-provider.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { startVaultService, type VaultService } from "../../fixtures/secrets/vault-service.ts";
import { reference } from "../secrets/programs.ts";
import { recordingLogger } from "../../support/logger.ts";

let service: VaultService;
let secrets: AgentSecrets;
let redacted: string[] = [];

beforeEach(async () => {
  service = await startVaultService();
  service.tokens.set("hvs.root", {});
  service.mounts.set("secret", {
    version: 2,
    secrets: new Map([["app", { value: "from Vault" }]]),
  });
});

afterEach(async () => {
  await secrets.close();
  await service.close();
});

function open(vault: SecretSettings["vault"], env: Record<string, string> = {}): AgentSecrets {
  redacted = [];
  secrets = new AgentSecrets({
    settings: { vault: { address: service.address, ...vault } },
    env,
    clock: systemClock,
    logger: recordingLogger(),
    onValue: (value) => redacted.push(value),
  });
  return secrets;
}

const wanted = { reference: reference("secret://vault/secret/app"), key: "env.TOKEN" };

it.each(["${MINE}", "secret://env/MINE", "hvs.${PART}"])("%s opens Vault", async (token) => {
  const env = { MINE: "hvs.root", PART: "root" };
  expect(await open({ auth: { type: "token", token } }, env).resolve(wanted)).toBe("from Vault");
  expect(redacted).toContain("hvs.root");
  expect(redacted).toContain("from Vault");
});

it.each([
  ["${UNSET}", "secrets.vault.auth.token needs the variable UNSET, which is not set"],
  [
    "secret://env/UNSET",
    "secrets.vault.auth.token needs secret://env/UNSET: the variable UNSET is not set",
  ],
])("%s is named where it cannot be had", async (token, cause) => {
  await expect(open({ auth: { type: "token", token } }).resolve(wanted)).rejects.toMatchObject({
    code: "SECRET_UNAVAILABLE",
    message: `env.TOKEN needs secret://vault/secret/app: ${cause}`,
    permanent: true,
  });
});

it("what the service says is told apart from what Plugboard says", async () => {
  service.isSealed = true;
  const sealed = open({ auth: { type: "token", token: "${MINE}" } }, { MINE: "hvs.root" });
  await expect(sealed.resolve(wanted)).rejects.toMatchObject({
    quote: "Vault is sealed",
    permanent: false,
  });
});
