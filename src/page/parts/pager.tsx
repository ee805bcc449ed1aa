// The two buttons that turn the pages of a list.

import type { Signal } from "@preact/signals";
import type { VNode } from "preact";

interface PagerProps {
  /** The first row that is shown. */
  from: Signal<number>;
  /** How many rows a page has. */
  size: number;
  hasMore: boolean;
  back: string;
  on: string;
}

export function Pager({ from, size, hasMore, back, on }: PagerProps): VNode {
  const turn = (rows: number) => () => {
    from.value = Math.max(0, from.value + rows);
  };
  return (
    <>
      <button type="button" disabled={from.value === 0} onClick={turn(-size)}>
        {back}
      </button>
      <button type="button" disabled={!hasMore} onClick={turn(size)}>
        {on}
      </button>
    </>
  );
}
