// The schema of the `secrets` block: what each provider of secrets is told. A provider's settings are values that are no
// secrets themselves.

import { isAbsolute } from "node:path";
import type { AzureAuth, SecretSettings, VaultAuth } from "../../types/secret-provider.ts";
import { mentionsSecret } from "../../types/secret-reference.ts";
import {
  byType,
  listOf,
  mapOf,
  matching,
  object,
  oneOf,
  type Schema,
  text,
  verified,
} from "./schema.ts";
import { httpsProblem, resolvable, urlProblem, WEB_URL } from "./values.ts";

const DOMAIN = /^[\w-]+(?:\.[\w-]+)+$/;

const HELPER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const helper = object({
  command: verified((command) =>
    isAbsolute(command)
      ? undefined
      : "is not an absolute path; expected one, so that nothing else on PATH can take its place",
  ).describe("The absolute path of the program."),
  args: listOf(text()).describe("Its first arguments.", { default: [] }).optional(),
  protocol: oneOf(["argument", "json"])
    .describe("Gets the path as its last argument, or JSON on stdin.", {
      default: "argument",
    })
    .optional(),
});

const file = verified((path) =>
  isAbsolute(path) || path.startsWith("~/")
    ? undefined
    : "is a relative path; expected an absolute one, or one that begins with ~/",
);

/** A credential that opens another provider. It is never written out, and comes from a provider that needs none of these. */
const credential = verified(credentialProblem, resolvable(), /\$\{|secret:\/\/|^op:\/\//);

const vaultMount = text().describe("Where the method is mounted.", { otherwise: "its own name" });

const vaultAuth = byType<VaultAuth>(
  {
    token: object({
      type: oneOf(["token"]).describe("The method."),
      token: credential
        .describe("The token.", { otherwise: "`VAULT_TOKEN`, else `~/.vault-token`" })
        .optional(),
    }),
    approle: object({
      type: oneOf(["approle"]).describe("The method."),
      roleId: text().describe("The id of the role."),
      secretId: credential.describe("Its secret.").optional(),
      mount: vaultMount.optional(),
    }),
    kubernetes: object({
      type: oneOf(["kubernetes"]).describe("The method."),
      role: text().describe("The role in Vault."),
      tokenFile: file
        .describe("The token of the service account.", { otherwise: "that of the pod" })
        .optional(),
      mount: vaultMount.optional(),
    }),
  },
  "an object with a type",
);

const tenantId = text().describe("The tenant.", { otherwise: "`AZURE_TENANT_ID`" }).optional();
const clientId = text().describe("The client.", { otherwise: "`AZURE_CLIENT_ID`" }).optional();

const azureAuth = byType<AzureAuth>(
  {
    "client-secret": object({
      type: oneOf(["client-secret"]).describe("The method."),
      tenantId,
      clientId,
      clientSecret: credential
        .describe("The client's secret.", { otherwise: "`AZURE_CLIENT_SECRET`" })
        .optional(),
    }),
    "workload-identity": object({
      type: oneOf(["workload-identity"]).describe("The method."),
      tenantId,
      clientId,
      tokenFile: file
        .describe("The federated token.", { otherwise: "`AZURE_FEDERATED_TOKEN_FILE`" })
        .optional(),
    }),
    "managed-identity": object({
      type: oneOf(["managed-identity"]).describe("The method."),
      clientId,
    }),
    az: object({ type: oneOf(["az"]).describe("The method."), tenantId }),
  },
  "an object with a type",
);

export const secretsSchema: Schema<SecretSettings> = object({
  env: object({}).describe("`secret://env/NAME` has no settings.").optional(),
  file: object({
    path: text()
      .describe("The file that new values are put into.", {
        otherwise: "`secrets.json` in `$PLUGBOARD_HOME`",
      })
      .optional(),
  })
    .describe("For `secret://file/…`.")
    .optional(),
  exec: mapOf(helper, helperNameProblem, HELPER_NAME)
    .describe("Helper programs by name, for `secret://exec/name/…`.", {
      see: "secrets.md#helper-programs",
    })
    .optional(),
  gcp: object({
    project: text()
      .describe("The project of `secret://gcp/NAME`.", {
        otherwise: "`GOOGLE_CLOUD_PROJECT`, else that of your credentials",
      })
      .optional(),
    endpoint: matching(
      /^(?:[\w-]+(?:\.[\w-]+)*|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?$/,
      'is not a host; expected one such as secretmanager.europe-west3.rep.googleapis.com or localhost:8085, without "https://"',
    )
      .describe(
        "`host` or `host:port` of a regional endpoint, or of an emulator on this machine.",
        {
          otherwise: "`SECRET_MANAGER_EMULATOR_HOST`, else Google's",
        },
      )
      .optional(),
  })
    .describe("Google Cloud Secret Manager.")
    .optional(),
  aws: object({
    region: text()
      .describe("The region. An ARN has its own.", {
        otherwise: "`AWS_REGION`, `AWS_DEFAULT_REGION`, else that of the profile",
      })
      .optional(),
    profile: text()
      .describe("A profile of your AWS configuration.", { otherwise: "`AWS_PROFILE`" })
      .optional(),
    endpoint: verified(urlProblem, text(), WEB_URL)
      .describe("A URL, such as that of an emulator.", {
        otherwise: "`AWS_ENDPOINT_URL_SECRETS_MANAGER`, `AWS_ENDPOINT_URL`",
      })
      .optional(),
  })
    .describe("AWS Secrets Manager.")
    .optional(),
  vault: object({
    address: verified(urlProblem, text(), WEB_URL)
      .describe("The URL of Vault or OpenBao.", { otherwise: "`VAULT_ADDR`" })
      .optional(),
    namespace: text().describe("A namespace.", { otherwise: "`VAULT_NAMESPACE`" }).optional(),
    ca: file
      .describe("A PEM file with the authority of its certificate.", {
        otherwise: "`VAULT_CACERT`",
      })
      .optional(),
    directory: matching(
      /^[^/\s#]+(?:\/[^/\s#]+)+$/,
      "is not a mount with a path in it; expected one such as secret/plugboard",
    )
      .describe("The mount, and a path in it, that new values are put into.", {
        default: "secret/plugboard",
      })
      .optional(),
    auth: vaultAuth.describe("How to sign in.", { otherwise: '`{ type: "token" }`' }).optional(),
  })
    .describe("HashiCorp Vault or OpenBao.")
    .optional(),
  azure: object({
    vault: matching(
      /^[A-Za-z][A-Za-z0-9-]{2,23}$/,
      "is not the name of a key vault; expected 3 to 24 letters, digits and hyphens",
    )
      .describe("The vault that new values are put into.")
      .optional(),
    suffix: matching(DOMAIN, "is not a domain; expected one such as vault.azure.net")
      .describe("The domain of the vaults.", { default: "vault.azure.net" })
      .optional(),
    endpoint: verified(credentialUrlProblem, text(), WEB_URL)
      .describe("The URL of a vault.", { otherwise: "from its name and the domain" })
      .optional(),
    authority: verified(credentialUrlProblem, text(), WEB_URL)
      .describe("Where tokens come from.", {
        otherwise: "`AZURE_AUTHORITY_HOST`, else `https://login.microsoftonline.com`",
      })
      .optional(),
    auth: azureAuth.describe("How to sign in.", { otherwise: "found by itself" }).optional(),
  })
    .describe("Azure Key Vault.")
    .optional(),
  op: object({
    account: text()
      .describe("One of several accounts.", { otherwise: "the one that `op` uses" })
      .optional(),
  })
    .describe("Secrets of 1Password.")
    .optional(),
  keyring: object({
    service: text()
      .describe("The service that new values are put under.", { default: "plugboard" })
      .optional(),
  })
    .describe("The keyring of your system.")
    .optional(),
});

/** It is a part of a reference. */
function helperNameProblem(name: string): string | undefined {
  return HELPER_NAME.test(name)
    ? undefined
    : "is not a name for a helper; expected letters, digits, dots and hyphens";
}

function credentialUrlProblem(url: string): string | undefined {
  return httpsProblem(url, "credentials are sent there");
}

/** References to these providers would wait for themselves. */
const NEEDS_CREDENTIAL = /secret:\/\/(?:vault|azure)\//;

/** Never quotes the value. */
function credentialProblem(value: string): string | undefined {
  if (NEEDS_CREDENTIAL.test(value)) {
    return "is a secret of a provider that needs a credential itself; expected ${VAR}, or a secret of another provider";
  }
  return value.includes("${") || mentionsSecret(value)
    ? undefined
    : "is a credential in plain text; expected ${VAR} or a secret:// reference";
}
