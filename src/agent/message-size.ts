// How much room a part of a conversation takes, in characters: what tokens can be estimated from.

/** What an image or a page comes to, whatever its bytes. */
const MEDIA_SIZE = 6000;

const sizes = new WeakMap<object, number>();

/** Messages are not changed once they are made, so each is measured once. */
export function sizeOf(value: object): number {
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let media = 0;
  const text = JSON.stringify(value, function (this: unknown, key: string, each: unknown) {
    if (!isMedia(this, key, each)) return each;
    media += 1;
    return "";
  });
  const size = text.length + media * MEDIA_SIZE;
  sizes.set(value, size);
  return size;
}

/** Bytes stand beside their type. */
function isMedia(holder: unknown, key: string, value: unknown): boolean {
  if (typeof value !== "string" || (key !== "data" && key !== "image")) return false;
  return typeof holder === "object" && holder !== null && "mediaType" in holder;
}
