// `secret://env/NAME`: a variable of the host's environment, as `${NAME}` is.

import {
  type ProviderSurroundings,
  type SecretProvider,
  secretUnavailable,
} from "../../types/secret-provider.ts";

export function createEnvProvider({ env }: Pick<ProviderSurroundings, "env">): SecretProvider {
  return {
    name: "env",
    async resolve({ path, key }) {
      if (key !== undefined) {
        throw secretUnavailable("a variable has no keys", {
          hint: 'leave out the "#" and its key',
        });
      }
      const value = Object.hasOwn(env, path) ? env[path] : undefined;
      if (value !== undefined) return value;
      throw secretUnavailable(`the variable ${path} is not set`, { hint: `export ${path}` });
    },
  };
}
