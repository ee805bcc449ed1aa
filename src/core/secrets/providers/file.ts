// `secret://file/path[#key]`: a file as a whole, or one key of a JSON file or of a file with lines `KEY=value`. New values
// are put into a JSON file that only its owner can read.

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { isAbsolute, posix, resolve, win32 } from "node:path";
import { parseEnv } from "node:util";
import { isJsonObject, tryParseJson } from "../../types/json.ts";
import {
  type ProviderSurroundings,
  type SecretContext,
  type SecretProvider,
  type SecretReference,
  type SecretSettings,
  secretUnavailable,
} from "../../types/secret-provider.ts";
import { readJsonFile, writeJsonFile } from "../../state/json-file.ts";
import { withLock } from "../../state/lock.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { expandHome } from "../../../util/home-path.ts";
import { openRegularFile } from "../../../util/regular-file.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { secretText, valueOfKey } from "../secret-text.ts";

const MAX_BYTES = 64 * 1024;
/** The file of new values holds many of them. */
const MAX_STORE_BYTES = 1024 * 1024;
const READABLE_BY_OTHERS = 0o004;

type FileSurroundings = Pick<ProviderSurroundings, "homedir" | "platform" | "clock" | "warn">;

export function createFileProvider(
  { path: store = "~/.plugboard/secrets.json" }: NonNullable<SecretSettings["file"]>,
  around: FileSurroundings,
): SecretProvider {
  const { homedir, clock, platform } = around;
  const place = (name: string): SecretReference => {
    const path = shortPath(expandHome(store, homedir), homedir, platform);
    return { provider: "file", path, key: name, text: `secret://file/${path}#${name}` };
  };
  return {
    name: "file",
    async resolve(reference, context) {
      const path = pathOf(reference, context, homedir);
      const isStore = path === expandHome(store, homedir);
      const bytes = await read(path, isStore ? MAX_STORE_BYTES : MAX_BYTES, reference, around);
      const { key } = reference;
      const text = secretText(bytes);
      return key === undefined ? text : keyOfFile(text, key);
    },
    async store(name, value) {
      const path = expandHome(store, homedir);
      await withLock(`${path}.lock`, clock, async () => {
        await writeJsonFile(path, { ...(await stored(path)), [name]: value });
      });
      return place(name);
    },
    place,
  };
}

function pathOf({ path }: SecretReference, { baseDir = "." }: SecretContext, home: string): string {
  return resolve(baseDir, expandHome(path, home));
}

async function read(
  path: string,
  max: number,
  reference: SecretReference,
  { platform, warn }: FileSurroundings,
): Promise<Buffer> {
  try {
    const file = await openRegularFile(path);
    try {
      const { size, mode } = await file.stat();
      if (size > max) {
        throw secretUnavailable(`the file ${path} has more than ${max / 1024} KiB`);
      }
      if (platform !== "win32" && (mode & READABLE_BY_OTHERS) !== 0) {
        warn(`every user of this machine can read the secrets in ${path}: run chmod 600 on it`);
      }
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) {
      throw secretUnavailable(`there is no file ${path}`, { hint: await rootHint(reference) });
    }
    if (hasErrorCode(error, "EACCES", "EPERM", "ENOTREGULAR", "EISDIR", "ELOOP")) {
      throw secretUnavailable(`the file ${path} cannot be read: ${reasonOf(error)}`);
    }
    throw error;
  }
}

/** People forget that an absolute path needs a slash of its own. */
async function rootHint({ path }: SecretReference): Promise<string | undefined> {
  if (isAbsolute(path) || path.startsWith("~")) return undefined;
  const isThere = await access(`/${path}`, constants.F_OK).then(
    () => true,
    () => false,
  );
  return isThere ? `for /${path} write secret://file//${path}` : undefined;
}

/** The file is JSON, or has lines `KEY=value`. */
function keyOfFile(text: string, key: string): string {
  if (!text.trimStart().startsWith("{")) {
    const pairs = parseEnv(text) as Record<string, string>;
    const told = Object.keys(pairs).filter((name) => isVariable(name, pairs[name] ?? ""));
    return valueOfKey(pairs, key, told);
  }
  const parsed = tryParseJson(text);
  if (isJsonObject(parsed)) return valueOfKey(parsed, key);
  throw secretUnavailable("the file is not valid JSON");
}

/**
 * Whether this is surely a variable, and no part of a value. In a file that holds a single token or a private key, everything
 * before the padding of the base64 would be the name.
 */
function isVariable(name: string, value: string): boolean {
  return /^[A-Z][A-Z0-9_]{0,63}$/.test(name) && !/^=*$/.test(value);
}

async function stored(path: string): Promise<Record<string, unknown>> {
  const known = await readJsonFile(path, MAX_STORE_BYTES);
  if (isJsonObject(known)) return known;
  const isThere = await access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) return {};
  throw secretUnavailable(`the file ${path} is there, and is not a JSON object of secrets`, {
    hint: "move it away, or set secrets.file.path to another file",
  });
}

/** As people write it, on Windows too: `~/.plugboard/secrets.json`. */
function shortPath(path: string, homedir: string, platform: NodeJS.Platform): string {
  const paths = platform === "win32" ? win32 : posix;
  const inside = paths.relative(homedir, path);
  const isInside = inside !== "" && !inside.startsWith("..") && !paths.isAbsolute(inside);
  return isInside ? `~/${inside.replaceAll(paths.sep, "/")}` : path;
}
