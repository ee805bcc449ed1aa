// Where a `secret://` reference leads: the interface of a provider, the providers that Plugboard has, and what each of
// them can be told in the configuration.

import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { type ErrorDetails, PlugboardError } from "./errors.ts";

/** The words behind `secret://` that need no program of your own. */
export const SECRET_PROVIDERS = [
  "env",
  "file",
  "exec",
  "gcp",
  "aws",
  "vault",
  "azure",
  "op",
  "keyring",
] as const;

export type SecretProviderName = (typeof SECRET_PROVIDERS)[number];

/** The providers that can store a value, the preferred one first. */
export const SECRET_STORES = ["gcp", "aws", "vault", "azure", "keyring", "file"] as const;

export type SecretStoreName = (typeof SECRET_STORES)[number];

/** `secret://provider/path#key`, read. */
export interface SecretReference {
  provider: string;
  /** Without the slash behind the provider. */
  path: string;
  /** What is behind the first `#`: a key of a JSON object, or a version. */
  key?: string;
  /** As it is written. Messages name it. */
  text: string;
}

export interface SecretContext {
  /** Aborts when nobody needs the value any more, or when its time is up. */
  signal: AbortSignal;
  /** The directory of the configuration that the reference is written in. Absent if it is written in code. */
  baseDir?: string | undefined;
}

export interface SecretProvider {
  /** The word behind `secret://`. */
  readonly name: string;
  /**
   * Gives the value. Rejects with a PlugboardError SECRET_UNAVAILABLE: its message names the cause and never a value, and
   * it is `permanent` unless the cause may pass by itself. Any other error counts as one that may pass.
   */
  resolve: (reference: SecretReference, context: SecretContext) => Promise<string>;
  /** Puts a value there under this name, and gives the reference to write. Absent where the provider only reads. */
  store?: (name: string, value: string, context: SecretContext) => Promise<SecretReference>;
  /** Removes a value that `store` has put there. One that is not there is no failure. Absent where that is left to others. */
  remove?: (reference: SecretReference, context: SecretContext) => Promise<void>;
  /** The reference that `store` gives for a name: people see it before anything is put there. */
  place?: (name: string) => SecretReference;
  /** Whether this machine has what it needs, as far as that can be found out without a value. Absent if settings say so. */
  isUsable?: (context: SecretContext) => Promise<boolean>;
  /** Ends its connections. */
  close?: () => Promise<void>;
}

/** How a program ended. */
export type ProgramResult =
  /** `stderr` is only the end of what it wrote, as plain text. It may hold anything, a secret included. */
  | { kind: "exited"; code: number | null; stdout: Buffer; stderr: string }
  | { kind: "not-found" }
  | { kind: "too-late"; ms: number }
  | { kind: "too-large"; bytes: number }
  | { kind: "failed"; reason: string };

export interface ProgramOptions {
  /** What it reads from stdin. A value that must stay secret goes here, never into its arguments. */
  input?: string;
  /** Variables on top of the host's environment. */
  env?: Environment;
  /** Milliseconds. Default: 10 000. */
  timeout?: number;
  /** Bytes of its output. Default: 1 MiB. */
  maxBytes?: number;
  /**
   * It stays in the session of the terminal, because it asks there for permission. Otherwise it gets a process group of
   * its own, which is ended as a whole.
   */
  keepsTerminal?: boolean;
  signal: AbortSignal;
}

/** Starts a program without a shell. Rejects only where the signal aborts. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  options: ProgramOptions,
) => Promise<ProgramResult>;

export interface SecretRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  /** Headers with credentials: sent only to the host of the URL, not to one that it redirects to. */
  privateHeaders?: Record<string, string>;
  body?: string;
  /** PEM text: the authority of its certificate, where this machine does not know it. */
  ca?: string;
  signal: AbortSignal;
}

export interface SecretResponse {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** At most 1 MiB. */
  text: () => Promise<string>;
}

/**
 * The guarded network. The host of the URL is allowed as it is, private and metadata addresses and plain http included:
 * so a provider takes it from its settings, or from what its service documents, and never from a reference or an answer.
 * Rejects with a PlugboardError, as the guarded network does.
 */
export type SecretFetch = (url: string, request: SecretRequest) => Promise<SecretResponse>;

/** What a provider works with. */
export interface ProviderSurroundings {
  env: Environment;
  homedir: string;
  platform: NodeJS.Platform;
  clock: Clock;
  run: RunProgram;
  fetch: SecretFetch;
  /** Imports an optional package. Rejects with ERR_MODULE_NOT_FOUND if it is not installed. */
  importOptional: (name: string) => Promise<unknown>;
  /** A setting with its references filled in: `${VAR}`, or a secret of another provider. Rejects as `resolve` does. */
  expand: (setting: string, key: string, context: SecretContext) => Promise<string>;
  /** Tells the operator something, once. Never a value. */
  warn: (message: string) => void;
}

/** A helper program that gives secrets by id. */
export interface ExecHelper {
  /** An absolute path. */
  command: string;
  args?: string[];
  /** `argument`, the default: the id is the last argument, and the output is the value. `json`: as OpenClaw asks its helpers. */
  protocol?: "argument" | "json";
}

/** The `secrets` block of a configuration: what each provider is told. */
export interface SecretSettings {
  env?: Record<string, never>;
  /** `path` is the file that new values are put into, `secrets.json` in Plugboard's home unless it is set. */
  file?: { path?: string };
  /** By name. */
  exec?: Record<string, ExecHelper>;
  gcp?: GcpSettings;
  aws?: AwsSettings;
  vault?: VaultSettings;
  azure?: AzureSettings;
  op?: { account?: string };
  /** `service` is the one that new values are put under. */
  keyring?: { service?: string };
}

export interface GcpSettings {
  project?: string;
  /** `host` or `host:port`. On this machine it is plain text and gets no credentials: an emulator. */
  endpoint?: string;
}

export interface AwsSettings {
  region?: string;
  profile?: string;
  endpoint?: string;
}

export interface VaultSettings {
  address?: string;
  namespace?: string;
  /** A PEM file with the authority of its certificate. */
  ca?: string;
  /** Where new values are put: a mount, and a path in it. */
  directory?: string;
  auth?: VaultAuth;
}

/** `token` and `secretId` may be references; `mount` is where the method is enabled. */
export type VaultAuth =
  | { type: "token"; token?: string }
  | { type: "approle"; roleId: string; secretId?: string; mount?: string }
  | { type: "kubernetes"; role: string; tokenFile?: string; mount?: string };

export interface AzureSettings {
  /** The vault that new values are put into. */
  vault?: string;
  /** The domain of the vaults. */
  suffix?: string;
  /** The address of a vault, instead of the one that its name and the domain make. */
  endpoint?: string;
  /** Where tokens come from. */
  authority?: string;
  auth?: AzureAuth;
}

/** `clientSecret` may be a reference. What is left out comes from the variables that Azure's own SDKs read. */
export type AzureAuth =
  | { type: "client-secret"; tenantId?: string; clientId?: string; clientSecret?: string }
  | { type: "workload-identity"; tenantId?: string; clientId?: string; tokenFile?: string }
  | { type: "managed-identity"; clientId?: string }
  | { type: "az"; tenantId?: string };

/** A value that cannot be had. The message must not hold it. Permanent, unless `details` says otherwise. */
export function secretUnavailable(message: string, details: ErrorDetails = {}): PlugboardError {
  return new PlugboardError("SECRET_UNAVAILABLE", message, { permanent: true, ...details });
}
