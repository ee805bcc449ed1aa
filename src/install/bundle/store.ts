// Where bundles are unpacked, and for how long they stay: as long as a configuration file that was changed by
// `plugboard add` names them.

import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeJsonFile } from "../../core/state/json-file.ts";
import { textsIn, valueIn } from "../../core/types/json.ts";
import { withLock } from "../../core/state/lock.ts";
import { ownerName, ownerState } from "../../core/state/process-owner.ts";
import type { Clock } from "../../util/clock.ts";
import { hasErrorCode } from "../../util/error-code.ts";
import { makeDirectory } from "../../util/make-directory.ts";
import { replaceFile } from "../../util/replace-file.ts";
import { readRegularFile } from "../../util/regular-file.ts";

/** In Plugboard's home. */
const BUNDLES = "bundles";
const LOCK = ".lock";
/** A directory that a process fills or removes; its owner's name follows. */
const PARTIAL = ".partial-";
/** Says that a process is about to write an entry for a bundle. */
const CLAIM = ".claim-";
/** Which files use a bundle. */
const USES = ".json";
const LARGEST_USES = 1024 * 1024;

/**
 * A directory with this hash in its name counts as the unpacked bundle. With eight digits, an attacker would find
 * another file with the same hash in minutes.
 */
const HASH_DIGITS = 32;
const BUNDLE = /^[^.].*@.+-[0-9a-f]{32}$/;

export interface BundleStore {
  home: string;
  clock: Clock;
  /** Texts that a file may get back. What they name counts as used. */
  keptTexts?: () => Promise<readonly string[]>;
}

export interface BundleId {
  name: string;
  version: string;
  sha256: string;
}

/** `files@1.0.0-<hash>`. Safe in every file system, and in the text of a configuration. */
export function bundleName({ name, version, sha256 }: BundleId): string {
  return `${plain(name, 64)}@${plain(version, 32)}-${sha256.slice(0, HASH_DIGITS)}`;
}

function plain(text: string, most: number): string {
  const safe = text
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "")
    .slice(0, most);
  return safe === "" ? "bundle" : safe;
}

/** Where a bundle is, or will be. */
export function bundleDirectory({ home }: BundleStore, id: BundleId): string {
  return join(home, BUNDLES, bundleName(id));
}

/** Runs `task` with an empty directory, which is gone afterwards. */
export async function inPartialDirectory<Result>(
  { home }: BundleStore,
  task: (directory: string) => Promise<Result>,
): Promise<Result> {
  const parent = join(home, BUNDLES);
  await makeDirectory(parent);
  await removeLeftovers(parent);
  const directory = partial(parent);
  await mkdir(directory, { mode: 0o700 });
  try {
    return await task(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Puts a bundle in its place, unless it is there. `fill` writes it to a directory inside of `partialDirectory`. Until
 * this process ends or calls `removeUnusedBundles`, nobody removes it.
 */
export async function place(
  store: BundleStore,
  id: BundleId,
  partialDirectory: string,
  fill: (directory: string) => Promise<void>,
): Promise<string> {
  const target = bundleDirectory(store, id);
  const claim = `${target}${CLAIM}${ownerName()}`;
  await withStore(store, () => writeFile(claim, "", { mode: 0o600 }));
  if (await isDirectory(target)) return target;
  try {
    const directory = join(partialDirectory, "content");
    await mkdir(directory, { mode: 0o700 });
    await fill(directory);
    await replaceFile(directory, target, { clock: store.clock });
  } catch (error) {
    // Another process has been faster with the same file.
    if (hasErrorCode(error, "EEXIST", "ENOTEMPTY", "EPERM") && (await isDirectory(target))) {
      return target;
    }
    await rm(claim, { force: true });
    throw error;
  }
  return target;
}

/**
 * Looks again at who uses which bundle, after `file` was changed or stayed as it was, and removes those that nobody uses:
 * no file that ever used them names them now or may get such a text back, and no other process is about to.
 */
export async function removeUnusedBundles(store: BundleStore, file: string): Promise<void> {
  const parent = join(store.home, BUNDLES);
  if ((await namesIn(parent)).length === 0) return;
  await removeLeftovers(parent);
  await withStore(store, async () => {
    const names = await namesIn(parent);
    const text = (await textOf(file)) ?? "";
    const claimed = await claimedBundles(parent, names);
    const kept = (await store.keptTexts?.()) ?? [];
    for (const name of names.filter((each) => BUNDLE.test(each))) {
      const uses = join(parent, `${name}${USES}`);
      const before = textsIn(valueIn(await readJsonFile(uses, LARGEST_USES), ["files"]));
      const others = before.filter((each) => each !== file);
      const isUsed = await Promise.all(others.map((each) => mentions(each, name)));
      const now = others.filter((_, index) => isUsed[index]);
      if (text.includes(name)) now.push(file);
      const isKept = kept.some((each) => each.includes(name));
      if (now.length === 0 && !isKept && !claimed.has(name)) {
        await remove(parent, name, store);
        await rm(uses, { force: true });
      } else if (now.join("\n") !== before.join("\n")) {
        await writeJsonFile(uses, { files: now });
      }
    }
  });
}

function withStore<Result>({ home, clock }: BundleStore, task: () => Promise<Result>) {
  return withLock(join(home, BUNDLES, LOCK), clock, task);
}

/** Removes the claims of this process, which is done, and of processes that are gone. */
async function claimedBundles(parent: string, names: readonly string[]): Promise<Set<string>> {
  const claimed = new Set<string>();
  for (const claim of names.filter((each) => each.includes(CLAIM))) {
    const [name = "", owner = ""] = claim.split(CLAIM);
    const isOver = owner === ownerName() || ownerState(owner) === "gone";
    if (isOver) await rm(join(parent, claim), { force: true });
    else claimed.add(name);
  }
  return claimed;
}

/** At once for everybody else: half a bundle must not be found. */
async function remove(parent: string, name: string, { clock }: BundleStore): Promise<void> {
  const doomed = partial(parent);
  await replaceFile(join(parent, name), doomed, { clock });
  await rm(doomed, { recursive: true, force: true });
}

/** What a process that was killed has left. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of (await namesIn(parent)).filter((each) => each.startsWith(PARTIAL))) {
    const owner = name.slice(PARTIAL.length).replace(/-[0-9a-f]{12}$/, "");
    if (ownerState(owner) !== "gone") continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

function partial(parent: string): string {
  return join(parent, `${PARTIAL}${ownerName()}-${randomBytes(6).toString("hex")}`);
}

async function isDirectory(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

/** Undefined for a file that is gone. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readRegularFile(file);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

/** One that cannot be read may name it. */
async function mentions(file: string, name: string): Promise<boolean> {
  try {
    return (await textOf(file))?.includes(name) ?? false;
  } catch {
    return true;
  }
}
