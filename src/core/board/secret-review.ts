// The references of an agent's configuration, for a person to review: who uses each, and whether it works.

import { textsOf } from "../config/secret-references.ts";
import { referencesIn } from "../config/schema/references.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import { PlugboardError } from "../types/errors.ts";
import type { SecretReference } from "../types/secret-provider.ts";
import type { SecretReview, SecretUse } from "../types/secret-use.ts";
import { requireKind, TEXT } from "../types/kinds.ts";
import { oneLine } from "../../util/text.ts";
import type { AgentSecrets } from "./agent-secrets.ts";

export interface ReviewOptions {
  /** As it is now. */
  agent: () => AgentConfig;
  secrets: Pick<AgentSecrets, "resolve" | "forget" | "lastOf">;
}

interface Use extends SecretUse {
  read: SecretReference;
  baseDir?: string | undefined;
}

export function reviewSecrets({ agent, secrets }: ReviewOptions): SecretReview {
  const uses = (): Use[] => usesIn(agent());
  const told = ({ reference, provider, users }: Use): SecretUse => {
    const last = secrets.lastOf(reference);
    return { reference, provider, users, ...(last && { last }) };
  };
  return {
    list: () => uses().map(told),
    async check(reference) {
      requireKind("the reference", reference, TEXT);
      const use = uses().find((each) => each.reference === reference);
      if (use === undefined) {
        const message = `the configuration does not refer to '${oneLine(reference, 200)}'`;
        throw new PlugboardError("INVALID_ARGUMENTS", message);
      }
      const { read, baseDir, users } = use;
      const [{ key, server } = { key: "" }] = users;
      await secrets.forget(read, baseDir);
      await secrets.resolve({ reference: read, key, server, baseDir }).catch(() => {});
      return told(use);
    },
  };
}

function usesIn(agent: AgentConfig): Use[] {
  const found = new Map<string, Use>();
  for (const { server, key, text, baseDir } of textsOf(agent)) {
    for (const read of referencesIn(text)) {
      const user = { key, ...(server !== undefined && { server }) };
      const known = found.get(read.text);
      if (known !== undefined) known.users.push(user);
      else {
        const { text: reference, provider } = read;
        found.set(reference, { reference, provider, users: [user], read, baseDir });
      }
    }
  }
  return [...found.values()];
}
