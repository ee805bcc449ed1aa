// The bundles that commands open and remove: with the network that the file allows, in Plugboard's home.

import { plugboardHome } from "../../core/config/home.ts";
import type { ServerOffer } from "../../core/types/server-offer.ts";
import type { BundleSource } from "../../install/bundle/receive.ts";
import { withProxy } from "../../core/net/proxy-env.ts";
import { reasonOf } from "../../util/system-problem.ts";
import type { CliContext } from "../context.ts";
import { undoList } from "./keep-change.ts";
import { type ServerFile, trustedSettings } from "./server-file.ts";

/** A path or a URL is given as it is written. The bundle is unpacked by then: call `removeUnusedBundles` when its entry is written or not wanted. */
export async function openBundleFile(
  from: string | BundleSource,
  sha256: string | undefined,
  file: ServerFile,
  context: CliContext,
): Promise<ServerOffer> {
  const { io, clock, signal } = context;
  const { env, cwd, homedir } = io;
  const { bundleSource, openBundle } = await import("../../install/bundle/open-bundle.ts");
  const { createFetch } = await import("../../core/net/fetch.ts");
  const settings = await trustedSettings(file, context);
  const allow = settings?.networkAllow ?? [];
  const fetch = createFetch({
    // Nothing can be set for this server yet, so that hints name what can be set for all.
    policy: { allowInsecure: false, allowPrivate: false, allow, isOfSession: true },
    env: withProxy(env, settings?.networkProxy),
    clock,
  });
  try {
    return await openBundle(
      {
        source: typeof from === "string" ? bundleSource(from, cwd) : from,
        ...(sha256 !== undefined && { sha256 }),
      },
      {
        home: plugboardHome(env, homedir),
        homedir,
        env,
        platform: process.platform,
        node: { path: process.execPath, version: process.versions.node },
        fetch,
        clock,
        signal,
      },
    );
  } finally {
    await fetch.close();
  }
}

/**
 * Removes bundles that no file names, and that no undo would bring back, after `file` was written or stayed as it was. What
 * cannot be removed does no harm, so this never rejects.
 */
export async function removeUnusedBundles(
  { path }: Pick<ServerFile, "path">,
  context: CliContext,
): Promise<void> {
  const { io, clock, logger } = context;
  const store = await import("../../install/bundle/store.ts");
  const home = plugboardHome(io.env, io.homedir);
  const keptTexts = async (): Promise<string[]> =>
    (await undoList(context).list()).flatMap(({ before }) => before ?? []);
  await store
    .removeUnusedBundles({ home, clock, keptTexts }, path)
    .catch((error: unknown) =>
      logger.warn(`bundles that nobody uses could not be removed: ${reasonOf(error)}`),
    );
}
