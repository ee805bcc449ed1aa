// The icons of what a server lists: only those that a host can show without a risk, and only so many.

import type { Icon } from "../../types/icon.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Redact } from "../../types/without-secrets.ts";

const MOST_ICONS = 8;
const MOST_SIZES = 16;
const LONGEST_ADDRESS = 2048;
const LONGEST_DATA = 32 * 1024;
/** Printable ASCII, so that nothing in it can hide or look like something else. */
const ADDRESS = /^https:\/\/[\x21-\x7e]+$/;
const DATA = /^data:image\/[\x21-\x7e]+$/;
const MIME_TYPE = /^[a-z]+\/[A-Za-z0-9.+-]{1,80}$/;
const SIZE = /^(?:any|\d{1,5}x\d{1,5})$/;

/** Leaves out an icon that is malformed, has another address than `https:` or `data:`, or is too large. */
export function readIcons(item: JsonObject): { icons?: Icon[] } {
  if (!Array.isArray(item.icons)) return {};
  const icons = item.icons.slice(0, MOST_ICONS).flatMap((each: unknown) => readIcon(each) ?? []);
  return icons.length === 0 ? {} : { icons };
}

/** Drops the icons that hold a secret: an address cannot be redacted and still lead somewhere. Changes the item. */
export function dropSecretIcons(item: { icons?: Icon[] }, redact: Redact): void {
  const clean = item.icons?.filter(({ src }) => redact(src) === src);
  if (clean === undefined || clean.length === 0) delete item.icons;
  else item.icons = clean;
}

function readIcon(icon: unknown): Icon | undefined {
  if (!isJsonObject(icon)) return undefined;
  const { src, mimeType, sizes, theme } = icon;
  if (typeof src !== "string" || !isSafe(src)) return undefined;
  const known = Array.isArray(sizes)
    ? sizes.slice(0, MOST_SIZES).filter((each) => typeof each === "string" && SIZE.test(each))
    : [];
  return {
    src,
    ...(typeof mimeType === "string" && MIME_TYPE.test(mimeType) && { mimeType }),
    ...(known.length > 0 && { sizes: known as string[] }),
    ...((theme === "light" || theme === "dark") && { theme }),
  };
}

function isSafe(src: string): boolean {
  if (src.startsWith("data:")) return src.length <= LONGEST_DATA && DATA.test(src);
  if (src.length > LONGEST_ADDRESS || !ADDRESS.test(src) || !URL.canParse(src)) return false;
  const { username, password } = new URL(src);
  return username === "" && password === "";
}
