// The table of secret providers. Each is one file, which is loaded with the first reference to it.

import type {
  ProviderSurroundings,
  SecretProvider,
  SecretProviderName,
  SecretSettings,
} from "../types/secret-provider.ts";

type OpenProvider = (
  settings: SecretSettings,
  surroundings: ProviderSurroundings,
) => Promise<SecretProvider>;

export const PROVIDERS: Readonly<Record<SecretProviderName, OpenProvider>> = {
  env: async (_, around) => (await import("./providers/env.ts")).createEnvProvider(around),
  file: async ({ file = {} }, around) =>
    (await import("./providers/file.ts")).createFileProvider(file, around),
  exec: async ({ exec = {} }, around) =>
    (await import("./providers/exec.ts")).createExecProvider(exec, around),
  gcp: async ({ gcp = {} }, around) =>
    (await import("./providers/gcp.ts")).createGcpProvider(gcp, around),
  aws: async ({ aws = {} }, around) =>
    (await import("./providers/aws.ts")).createAwsProvider(aws, around),
  vault: async ({ vault = {} }, around) =>
    (await import("./providers/vault.ts")).createVaultProvider(vault, around),
  azure: async ({ azure = {} }, around) =>
    (await import("./providers/azure.ts")).createAzureProvider(azure, around),
  op: async ({ op = {} }, around) =>
    (await import("./providers/op.ts")).createOpProvider(op, around),
  keyring: async ({ keyring = {} }, around) =>
    (await import("./providers/keyring.ts")).createKeyringProvider(keyring, around),
};
