// A URL as a message shows it: keys live in queries and user names, so both are left out.

import { oneLine } from "../util/text.ts";

const LONGEST = 200;

export function showUrl(url: URL): string {
  return oneLine(`${url.protocol}//${url.host}${url.pathname}${url.search && "?…"}`, LONGEST);
}
