// Lists one kind of item from a server that answers every page with `request`.

import { type ListKind, listPages } from "../../../../src/core/upstream/lists/list-pages.ts";

export function listFrom<Item>(
  kind: ListKind<Item>,
  request: (cursor: unknown) => Promise<unknown>,
  redact: (text: string) => string = (text) => text,
) {
  const wire = {
    request: (_method: string, params: object) => request({ cursor: undefined, ...params }.cursor),
  };
  return listPages(kind, { server: "docs", timeout: 1000, wire, redact });
}
