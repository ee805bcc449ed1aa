// `secret://op/vault/item/field` and `op://vault/item/field`: 1Password, through its command `op`, which has your login.

import {
  type ProviderSurroundings,
  type SecretProvider,
  type SecretSettings,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { oneLine } from "../../../util/text.ts";
import { requireOutput } from "../program-output.ts";
import { secretText } from "../secret-text.ts";

/** What `op` says when trying again cannot help. It never repeats a value. */
const PERMANENT =
  /isn't an? (?:item|vault|field|section)|not (?:currently )?signed in|no accounts? (?:configured|found)|invalid (?:secret reference|token)|could not find|more than one/i;

export function createOpProvider(
  { account }: NonNullable<SecretSettings["op"]>,
  { run }: Pick<ProviderSurroundings, "run">,
): SecretProvider {
  return {
    name: "op",
    async resolve({ path, key }, { signal }) {
      if (key !== undefined || path.split("/").length < 3) {
        throw secretUnavailable("expected op://<vault>/<item>/<field>");
      }
      const args = ["read", "--no-newline", ...(account ? ["--account", account] : [])];
      // It asks for permission once for each terminal.
      const options = { signal, keepsTerminal: true };
      const result = await run("op", [...args, `op://${path}`], options);
      const output = requireOutput(result, {
        program: "1Password's command op",
        notFound:
          "install it (https://developer.1password.com/docs/cli) and sign in, or set OP_SERVICE_ACCOUNT_TOKEN",
        failed: ({ code, stderr }) => {
          const said = oneLine(withoutPrefix(stderr), 200);
          const why = said === "" ? `ended with code ${code ?? "unknown"}` : `says: ${said}`;
          return secretUnavailable(`1Password's op ${why}`, { permanent: PERMANENT.test(said) });
        },
      });
      return secretText(output);
    },
  };
}

/** `[ERROR] 2026/01/02 03:04:05 ` */
function withoutPrefix(stderr: string): string {
  return stderr.replace(/\[ERROR\] [\d/]+ [\d:]+ /g, "");
}
