// Cuts a long list into pages. A cursor is only valid for the list it was made for: a list that has changed since would
// skip items or repeat them.

/** More than most boards have: a client that does not ask for further pages still sees everything. */
const PAGE_SIZE = 1000;

export interface Page<Item> {
  items: readonly Item[];
  nextCursor?: string;
}

/** Undefined if the cursor is not valid. */
export function pageOf<Item>(
  items: readonly Item[],
  cursor: unknown,
  revision: number,
): Page<Item> | undefined {
  const start = cursor === undefined ? 0 : startOf(cursor, revision);
  if (start === undefined || start > items.length) return undefined;
  const end = start + PAGE_SIZE;
  return {
    items: start === 0 && end >= items.length ? items : items.slice(start, end),
    ...(end < items.length && {
      nextCursor: Buffer.from(`${revision}:${end}`).toString("base64url"),
    }),
  };
}

function startOf(cursor: unknown, revision: number): number | undefined {
  if (typeof cursor !== "string" || cursor.length > 100) return undefined;
  const [, made, start] = /^(\d+):(\d+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return Number(made) === revision && start !== undefined ? Number(start) : undefined;
}
