// Bundles on the command line: opening the one that somebody names, and removing those that no file uses any more.

import { resolve } from "node:path";
import type { BundleRequest } from "../../../bundle/open-bundle.ts";
import type { BundleSource } from "../../../bundle/receive.ts";
import { sweepBundles } from "../../../bundle/store.ts";
import { plugboardHome } from "../../../config/home.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { ServerOffer } from "../../../model/server-offer.ts";
import { createFetch } from "../../../net/fetch.ts";
import { withProxy } from "../../../net/proxy-env.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import type { CliContext } from "../context.ts";

/** What the configuration says about the network. */
export type NetworkSettings = Pick<AgentConfig, "networkAllow" | "networkProxy">;

/** Whether a word on the command line names a bundle. */
export function isBundle(word: string): boolean {
  const path = URL.canParse(word) ? new URL(word).pathname : word;
  return /\.(?:mcpb|dxt)$/i.test(path);
}

/** A URL or a path; `cwd` is where a relative one begins. */
export function bundleSource(word: string, cwd: string): BundleSource {
  return /^https?:\/\//i.test(word)
    ? { kind: "url", url: word }
    : { kind: "file", path: resolve(cwd, word) };
}

/** Unpacks the bundle. `removeUnusedBundles` must be called in the end, whether its entry is written or not. */
export async function readBundle(
  request: BundleRequest,
  { networkAllow = [], networkProxy }: NetworkSettings,
  { io, clock, signal }: CliContext,
): Promise<ServerOffer> {
  // Only a bundle needs what reads zip files.
  const { openBundle } = await import("../../../bundle/open-bundle.ts");
  const { env, homedir, cwd } = io;
  const fetch = createFetch({
    // Nothing can be set for this server yet, so that hints name what can be set for all.
    policy: { allowInsecure: false, allowPrivate: false, allow: networkAllow, isOfSession: true },
    env: withProxy(env, networkProxy),
    clock,
  });
  try {
    return await openBundle(request, {
      home: plugboardHome(env, homedir),
      homedir,
      cwd,
      env,
      platform: process.platform,
      node: { path: process.execPath, version: process.versions.node },
      fetch,
      clock,
      signal,
    });
  } finally {
    await fetch.close();
  }
}

/** `file` was changed, or stays as it is after all. What cannot be removed does no harm, so this never rejects. */
export async function removeUnusedBundles(
  file: string,
  { io, clock, logger }: CliContext,
): Promise<void> {
  const home = plugboardHome(io.env, io.homedir);
  await sweepBundles({ home, clock }, file).catch((error: unknown) =>
    logger.warn(`the bundles that nobody uses could not be removed: ${reasonOf(error)}`),
  );
}
