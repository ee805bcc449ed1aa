// Which view is shown: it stands in the fragment of the address, such as `#/servers/files`, so that links and the back
// button work and the gateway never sees it.

import { signal } from "@preact/signals";
import { percentDecoded } from "../util/text.ts";

const KEY = /^#k=([\w-]{20,200})$/;

export interface Route {
  view: string;
  /** What the view is about, if it is about one thing. */
  id: string | undefined;
}

function read(): Route {
  const [, view = "", id] = /^#\/([\w-]*)(?:\/(.*))?$/.exec(location.hash) ?? [];
  return { view, id: id === undefined ? undefined : percentDecoded(id) };
}

export const route = signal<Route>(read());

addEventListener("hashchange", () => {
  route.value = read();
});

export function linkTo(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

export function hasKey(): boolean {
  return KEY.test(location.hash);
}

/** What the provider has sent the browser back with. It leaves the address bar and the history at once. */
export function takeAnswer(): URLSearchParams | undefined {
  if (!location.pathname.endsWith("/callback")) return undefined;
  const answer = new URLSearchParams(location.search);
  history.replaceState(null, "", location.pathname.replace(/callback$/, ""));
  return answer;
}

/** The key in a link that opens the page. It leaves the address bar and the history at once. */
export function takeKey(): string | undefined {
  const [, key] = KEY.exec(location.hash) ?? [];
  if (key !== undefined) history.replaceState(null, "", location.pathname);
  return key;
}
