// Which warnings about credentials a person has been told: each is said once, and `plugboard doctor` goes on showing it.

import { join } from "node:path";
import { readJsonFile, writeJsonFile } from "../core/state/json-file.ts";
import type { AgentConfig } from "../core/types/agent-config.ts";
import type { ConfigProblem } from "../core/types/errors.ts";
import { isJsonObject, textsIn } from "../core/types/json.ts";
import { shortHash } from "../util/short-hash.ts";

const MOST_BYTES = 1024 * 1024;
/** The oldest are forgotten, and said again. */
const MOST_TOLD = 1000;

/** Without the warnings that an earlier command has said. `home` is Plugboard's. */
export async function withoutTold(agent: AgentConfig, home: string): Promise<AgentConfig> {
  const found = agent.warnings.filter(isAboutCredential).map(idOf);
  if (found.length === 0) return agent;
  const path = join(home, "told.json");
  const value = await readJsonFile(path, MOST_BYTES);
  const told = isJsonObject(value) ? textsIn(value["credentials"]) : [];
  const isTold = new Set(told);
  const fresh = found.filter((id) => !isTold.has(id));
  if (fresh.length > 0) {
    const credentials = [...told, ...fresh].slice(-MOST_TOLD);
    // Where it cannot be written, the warning is said again.
    await writeJsonFile(path, { credentials }).catch(() => {});
  }
  const warnings = agent.warnings.filter(
    (each) => !isAboutCredential(each) || !isTold.has(idOf(each)),
  );
  return { ...agent, warnings };
}

function isAboutCredential({ isCredential, file }: ConfigProblem): boolean {
  return isCredential === true && file !== undefined;
}

function idOf({ file = "", path }: ConfigProblem): string {
  return shortHash(`${file}\n${path}`);
}
