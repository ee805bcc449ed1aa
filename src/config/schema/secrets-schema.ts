// The schema of the `secrets` block: what each provider of secrets is told. A provider's settings are values that are no
// secrets themselves.

import { isAbsolute } from "node:path";
import type { AzureAuth, SecretSettings, VaultAuth } from "../../model/secret-provider.ts";
import { plainHost } from "../../net/host-list.ts";
import { isLocal } from "../../net/policy.ts";
import { mentionsSecret } from "../../model/secret-reference.ts";
import { byType, listOf, mapOf, object, oneOf, type Schema, text, verified } from "./schema.ts";
import { resolvable, urlProblem } from "./values.ts";

const helper = object({
  command: verified((command) =>
    isAbsolute(command)
      ? undefined
      : "is not an absolute path; expected one, so that nothing else on PATH can take its place",
  ),
  args: listOf(text()).optional(),
  protocol: oneOf(["argument", "json"]).optional(),
});

const file = verified((path) =>
  isAbsolute(path) || path.startsWith("~/")
    ? undefined
    : "is a relative path; expected an absolute one, or one that begins with ~/",
);

/** A credential that opens another provider. It is never written out, and comes from a provider that needs none of these. */
const credential = verified(credentialProblem, resolvable());

const vaultAuth = byType<VaultAuth>(
  {
    token: object({ type: oneOf(["token"]), token: credential.optional() }),
    approle: object({
      type: oneOf(["approle"]),
      roleId: text(),
      secretId: credential.optional(),
      mount: text().optional(),
    }),
    kubernetes: object({
      type: oneOf(["kubernetes"]),
      role: text(),
      tokenFile: file.optional(),
      mount: text().optional(),
    }),
  },
  "an object with a type",
);

const azureClient = { tenantId: text().optional(), clientId: text().optional() };

const azureAuth = byType<AzureAuth>(
  {
    "client-secret": object({
      type: oneOf(["client-secret"]),
      ...azureClient,
      clientSecret: credential.optional(),
    }),
    "workload-identity": object({
      type: oneOf(["workload-identity"]),
      ...azureClient,
      tokenFile: file.optional(),
    }),
    "managed-identity": object({
      type: oneOf(["managed-identity"]),
      clientId: text().optional(),
    }),
    az: object({ type: oneOf(["az"]), tenantId: text().optional() }),
  },
  "an object with a type",
);

export const secretsSchema: Schema<SecretSettings> = object({
  env: object({}).optional(),
  file: object({ path: text().optional() }).optional(),
  exec: mapOf(helper, helperNameProblem).optional(),
  gcp: object({
    project: text().optional(),
    endpoint: verified(hostProblem).optional(),
  }).optional(),
  aws: object({
    region: text().optional(),
    profile: text().optional(),
    endpoint: verified(urlProblem).optional(),
  }).optional(),
  vault: object({
    address: verified(urlProblem).optional(),
    namespace: text().optional(),
    ca: file.optional(),
    directory: verified(directoryProblem).optional(),
    auth: vaultAuth.optional(),
  }).optional(),
  azure: object({
    vault: verified(vaultNameProblem).optional(),
    suffix: verified(domainProblem).optional(),
    endpoint: verified(secureUrlProblem).optional(),
    authority: verified(secureUrlProblem).optional(),
    auth: azureAuth.optional(),
  }).optional(),
  op: object({ account: text().optional() }).optional(),
  keyring: object({ service: text().optional() }).optional(),
});

/** It is a part of a reference. */
function helperNameProblem(name: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)
    ? undefined
    : "is not a name for a helper; expected letters, digits, dots and hyphens";
}

function hostProblem(host: string): string | undefined {
  return /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
    ? undefined
    : 'is not a host; expected one such as secretmanager.europe-west3.rep.googleapis.com or localhost:8085, without "https://"';
}

function secureUrlProblem(url: string): string | undefined {
  const problem = urlProblem(url);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLocal(plainHost(hostname))
    ? undefined
    : "is plain http; expected https, since credentials are sent there";
}

function domainProblem(domain: string): string | undefined {
  return /^[\w-]+(?:\.[\w-]+)+$/.test(domain)
    ? undefined
    : "is not a domain; expected one such as vault.azure.net";
}

function vaultNameProblem(name: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9-]{2,23}$/.test(name)
    ? undefined
    : "is not the name of a key vault; expected 3 to 24 letters, digits and hyphens";
}

function directoryProblem(path: string): string | undefined {
  return /^[^/\s#]+(?:\/[^/\s#]+)+$/.test(path)
    ? undefined
    : "is not a mount with a path in it; expected one such as secret/plugboard";
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
