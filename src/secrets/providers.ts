// The table of secret providers. Each is one file, which is loaded with the first reference to it.

import type {
  ProviderSurroundings,
  SecretProvider,
  SecretProviderName,
  SecretSettings,
} from "../model/secret-provider.ts";

type OpenProvider = (
  settings: SecretSettings,
  surroundings: ProviderSurroundings,
) => Promise<SecretProvider>;

export const PROVIDERS: Readonly<Partial<Record<SecretProviderName, OpenProvider>>> = {
  env: async ({ env = {} }, around) =>
    (await import("./providers/env.ts")).createEnvProvider(env, around),
  file: async ({ file = {} }, around) =>
    (await import("./providers/file.ts")).createFileProvider(file, around),
  exec: async ({ exec = {} }, around) =>
    (await import("./providers/exec.ts")).createExecProvider(exec, around),
  op: async ({ op = {} }, around) =>
    (await import("./providers/op.ts")).createOpProvider(op, around),
  keyring: async ({ keyring = {} }, around) =>
    (await import("./providers/keyring.ts")).createKeyringProvider(keyring, around),
};
