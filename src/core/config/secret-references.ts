// Which secrets a configuration refers to, and whether there is a provider for each of them.

import type { AgentConfig } from "../types/agent-config.ts";
import { valueIn } from "../types/json.ts";
import type { SecretReference } from "../types/secret-provider.ts";
import { atValue, formatPath, type Issue, type KeyPath, throwIfAny } from "./issue.ts";
import { mentionsSecret } from "../types/secret-reference.ts";
import { providerProblem, referencesIn } from "./schema/references.ts";

/** A text of a configuration, and where it is written. */
export interface PlacedText {
  /** Absent for the key of a model provider. */
  server?: string;
  /** `env.TOKEN`, `headers.Authorization`, or for a model provider `models.providers.openai.apiKey`. */
  key: string;
  /** References and variables in it are not filled in. */
  text: string;
  /** The directory that a relative path is relative to. */
  baseDir?: string | undefined;
}

/**
 * Issues for the providers that there are not, anywhere in the content of a file, which may be wrong in other ways too.
 * `given` are the names of providers of a program's own.
 */
export function unknownProviders(content: unknown, given: readonly string[]): Issue[] {
  const agents = valueIn(content, ["agents"]);
  const list = valueIn(agents, ["list"]);
  const layers: KeyPath[] = [
    ["agents", "defaults"],
    ...(Array.isArray(list) ? [...list.keys()].map((at) => ["agents", "list", at]) : []),
  ];
  const blocks: KeyPath[] = [
    ...layers.map((layer) => [...layer, "mcp", "servers"]),
    ["models", "providers"],
  ];
  return blocks.flatMap((block) => providerIssues(valueIn(content, block), block, given));
}

/** Throws CONFIG_INVALID if a board would need a provider that it does not have. */
export function requireProviders(agent: AgentConfig, given: readonly string[]): void {
  const issues = agent.servers.flatMap(({ name, target }) =>
    providerIssues(target, ["servers", name], given),
  );
  throwIfAny(issues, {});
}

/** The texts of an agent's servers and model providers, which may have references in them. Without disabled servers. */
export function textsOf({ servers, modelProviders = {} }: AgentConfig): PlacedText[] {
  const ofServers = servers
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, target: { baseDir, ...target } }) =>
      stringsIn(target, []).map(({ text, path }): PlacedText => ({
        server: name,
        key: formatPath(path),
        text,
        baseDir,
      })),
    );
  const ofModels = Object.entries(modelProviders).flatMap(([name, { baseDir, ...provider }]) =>
    stringsIn(provider, ["models", "providers", name]).map(({ text, path }): PlacedText => ({
      key: formatPath(path),
      text,
      baseDir,
    })),
  );
  return [...ofServers, ...ofModels];
}

/** The references anywhere in a value. */
export function everyReference(value: unknown): SecretReference[] {
  return stringsIn(value, []).flatMap(({ text }) => referencesIn(text));
}

/** A session's servers get no secrets of the host: whoever brings a server does not decide who reads them. */
export function secretIssues(value: unknown, path: KeyPath): Issue[] {
  const message =
    "refers to a secret, which servers of a session do not get; expected the value itself";
  return stringsIn(value, path).flatMap(({ text, path: place }) =>
    mentionsSecret(text) ? [atValue(place, message)] : [],
  );
}

function providerIssues(value: unknown, path: KeyPath, given: readonly string[]): Issue[] {
  return stringsIn(value, path).flatMap(({ text, path: place }) =>
    referencesIn(text).flatMap((reference) => {
      const problem = providerProblem(reference, given);
      return problem === undefined ? [] : [atValue(place, problem)];
    }),
  );
}

function stringsIn(value: unknown, path: KeyPath): { text: string; path: KeyPath }[] {
  if (typeof value === "string") return [{ text: value, path }];
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) =>
    stringsIn((value as Record<string | number, unknown>)[key], [...path, key]),
  );
}
