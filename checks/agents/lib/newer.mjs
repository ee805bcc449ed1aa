// Whether npm has newer releases of the agents than those that are pinned here.

import { spawnSync } from "node:child_process";
import { AGENTS, MODULES, versionOf } from "./agents.mjs";

/** A line for each agent that has a newer release, or why nobody knows. */
export function newerReleases(latestOf = npmLatest) {
  return AGENTS.flatMap((agent) => {
    const pinned = versionOf(agent.package, agent.modules ?? MODULES);
    const latest = latestOf(agent.package);
    if (latest === pinned) return [];
    if (latest === undefined)
      return [`${agent.name}: npm does not say which release is the newest`];
    return [
      `${agent.name}: ${latest} is the newest release, and ${pinned} is tested; pin it with ` +
        `npm install --save-exact --omit-lockfile-registry-resolved ${agent.package}@${latest}`,
    ];
  });
}

/** Undefined without a network. */
function npmLatest(name) {
  const { status, stdout } = spawnSync("npm", ["view", name, "version"], { encoding: "utf8" });
  const version = stdout.trim();
  return status === 0 && version !== "" ? version : undefined;
}
