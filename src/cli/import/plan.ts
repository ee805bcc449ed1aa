// Compares the servers of other applications with those of a file, and says what would become of each.

import {
  type CredentialPlace,
  replaceCredentials,
  type Variables,
  withReferences,
} from "../../core/board/without-credentials.ts";
import type { OtherFile } from "../../core/config/other-files.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { writtenOut } from "../../core/config/schema/references.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject } from "../../core/types/json.ts";
import { inText, mentionsSecret } from "../../core/types/secret-reference.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { secretName } from "../store-secret.ts";

/** How a server relates to the servers in the target file. */
export type Standing =
  | { kind: "new" }
  /** The file has exactly this. */
  | { kind: "present" }
  /** The file has another server of this name. */
  | { kind: "different" }
  /** Another application has exactly this, and comes first. */
  | { kind: "repeated"; by: string }
  /** Another application has another server of this name, and comes first: so this one gets another name. */
  | { kind: "renamed"; from: string; by: string };

export interface Candidate {
  name: string;
  file: OtherFile;
  /** In our keys, as it would be written. */
  server: ServerConfig;
  /** What its references need. */
  variables: readonly string[];
  /** What has to be put away before it is written. */
  secrets: readonly SecretToStore[];
  standing: Standing;
}

/** A credential, and its name in the store. */
interface SecretToStore {
  name: string;
  value: string;
  reference: string;
}

export interface PlanOptions {
  /** What the file has, by name. */
  existing: Readonly<Record<string, unknown>>;
  /** Credentials become references to variables. */
  references: boolean;
  /** Credentials become references to what this gives for a name. */
  place?: ((name: string) => string) | undefined;
  /** Only these; all where it is empty. */
  names: readonly string[];
}

export function planImport(
  files: readonly OtherFile[],
  { existing, references, place, names }: PlanOptions,
): Candidate[] {
  const known: Variables = new Map();
  const found = files.flatMap((file) =>
    [...file.servers]
      .filter(([name]) => names.length === 0 || names.includes(name))
      .map(([name, given]) => {
        const literal = given as ServerConfig;
        const referred = withReferences(name, literal, known, { inPath: true });
        const stored = place && withSecrets(name, literal, place);
        const plain = { server: literal, variables: [] };
        return {
          name,
          file,
          literal,
          secrets: [],
          ...(references ? referred : plain),
          ...stored,
          /** With and without references it is the same server. */
          identity: identityOf(name, literal),
          identities: [literal, referred.server].map((each) => identityOf(name, each)),
          outline: outlineOf(
            name,
            replaceCredentials(literal, () => MARK, { inPath: true }),
          ),
        };
      }),
  );
  const taken = new Set([...Object.keys(existing), ...found.map(({ name }) => name)]);
  return found.map(({ identity, identities, outline, literal, ...candidate }, index): Candidate => {
    const { name, file } = candidate;
    const first = found.find((other) => other.name === name);
    const same = found.findIndex((other) => other.name === name && other.identity === identity);
    const isPresentAs = (as: string): boolean =>
      Object.hasOwn(existing, as) &&
      (identities.includes(identityOf(name, existing[as])) ||
        (mentionsSecret(JSON.stringify(existing[as])) &&
          outline === outlineOf(name, existing[as])));
    const other = `${name}-${file.application}`;
    if (isPresentAs(name) || isPresentAs(other)) {
      return { ...candidate, standing: { kind: "present" } };
    }
    if (same < index) {
      const by = found[same]?.file.name ?? file.name;
      return { ...candidate, standing: { kind: "repeated", by } };
    }
    if (Object.hasOwn(existing, name)) return { ...candidate, standing: { kind: "different" } };
    if (first !== undefined && first.identity !== identity) {
      let free = other;
      for (let count = 2; taken.has(free); count += 1) free = `${other}-${count}`;
      taken.add(free);
      const standing: Standing = { kind: "renamed", from: name, by: first.file.name };
      // Its secrets are not those of the other one.
      const stored = place && withSecrets(free, literal, place);
      return { ...candidate, ...stored, name: free, standing };
    }
    return { ...candidate, standing: { kind: "new" } };
  });
}

/** With references to what will be put away. What cannot be put away stays as it is. */
function withSecrets(
  server: string,
  literal: ServerConfig,
  place: (name: string) => string,
): Pick<Candidate, "server" | "secrets"> {
  const secrets = new Map<string, SecretToStore>();
  const put = (written: string, { what, isInText }: CredentialPlace): string => {
    const value = writtenOut(written);
    if (value === undefined || value === "") return written;
    const wanted = secretName(server, what);
    let name = wanted;
    for (let count = 2; (secrets.get(name)?.value ?? value) !== value; count++) {
      name = `${wanted}-${count}`;
    }
    const reference = place(name);
    secrets.set(name, { name, value, reference });
    return isInText ? inText(reference) : reference;
  };
  const referred = replaceCredentials(literal, put, { inPath: true });
  return { server: referred, secrets: [...secrets.values()] };
}

const MARK = "[REDACTED]";

/** A text that is equal for a server with its credentials and for one with references in their place. */
function outlineOf(name: string, server: unknown): string {
  const marked: unknown = JSON.parse(JSON.stringify(server), (_, value: unknown) =>
    typeof value === "string"
      ? value.replace(/^(?:secret|op):\/\/.*$|(?<!\$)\$\{[^}]*\}/gs, () => MARK)
      : value,
  );
  return identityOf(name, marked);
}

/** The candidates that an import writes. */
export function chosen(candidates: readonly Candidate[], force: boolean): Candidate[] {
  const wanted = candidates.filter(
    ({ standing: { kind } }) =>
      kind === "new" || kind === "renamed" || (force && kind === "different"),
  );
  // If several would replace a server, the first one does.
  return wanted.filter(
    ({ name }, index) => wanted.findIndex((other) => other.name === name) === index,
  );
}

/** A text that is equal for servers that do the same, however they are written, and whether they are enabled or not. */
function identityOf(name: string, server: unknown): string {
  if (!isJsonObject(server)) return canonicalJson(server);
  try {
    const [definition] = parseAgentConfig({
      servers: { [name]: { ...server, enabled: true } },
    }).servers;
    return canonicalJson(definition);
  } catch (error) {
    if (error instanceof PlugboardError) return canonicalJson(server);
    throw error;
  }
}
