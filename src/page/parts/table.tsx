// A table that scrolls by itself: it may be wider than the screen.

import type { ComponentChildren, VNode } from "preact";

/** `number` is at the right, and `wide` is left out on a narrow screen. */
type Column = [title: ComponentChildren, look?: "number" | "wide" | "number wide" | "when"];

interface TableProps {
  label?: string;
  look?: string;
  columns: readonly (Column | false)[];
  /** The rows. */
  children: ComponentChildren;
}

export function Table({ label = "Table", look, columns, children }: TableProps): VNode {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <table class={look}>
        <thead>
          <tr>
            {columns.flatMap((column, at) => {
              if (column === false) return [];
              const [title, kind] = column;
              return (
                <th key={at} scope="col" class={kind}>
                  {title}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
