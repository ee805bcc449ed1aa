// Cuts a long list into pages. A cursor is only valid for the list it was made for: another list, or one that has
// changed since, would skip items or repeat them.

/** More than most boards have: a client that does not ask for further pages still sees everything. */
const PAGE_SIZE = 1000;

export interface Page<Item> {
  items: readonly Item[];
  nextCursor?: string;
}

/** `list` names the list as it is now. Undefined if the cursor is not valid. */
export function pageOf<Item>(
  items: readonly Item[],
  cursor: unknown,
  list: string,
): Page<Item> | undefined {
  const start = cursor === undefined ? 0 : startOf(cursor, list);
  if (start === undefined || start > items.length) return undefined;
  const end = start + PAGE_SIZE;
  return {
    items: start === 0 && end >= items.length ? items : items.slice(start, end),
    ...(end < items.length && {
      nextCursor: Buffer.from(`${end} ${list}`).toString("base64url"),
    }),
  };
}

function startOf(cursor: unknown, list: string): number | undefined {
  if (typeof cursor !== "string" || cursor.length > 200) return undefined;
  const [, start, made] =
    /^(\d{1,9}) (.+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return made === list && start !== undefined ? Number(start) : undefined;
}
