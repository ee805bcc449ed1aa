// Text that a server, a client or a model has written: shown as text alone, with characters that nobody would see written
// out.

import type { VNode } from "preact";
import { visible } from "../../util/visible.ts";

const LONGEST = 2000;

export function Foreign({ text, most = LONGEST }: { text: string; most?: number }): VNode {
  const cut = text.length > most;
  return (
    <span class="foreign" title={cut ? `${text.length} characters in all` : undefined}>
      {text.slice(0, most).split("\n").map(visible).join("\n")}
      {cut && "…"}
    </span>
  );
}
