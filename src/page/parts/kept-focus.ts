// Where the focus goes when what has it goes, so that a keyboard goes on from there.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** For something that may be answered, here or elsewhere, and is gone then: the view has the focus after it. */
export function useKeptFocus<Element extends HTMLElement>(): RefObject<Element | null> {
  const own = useRef<Element>(null);
  useLayoutEffect(
    () => () => {
      if (own.current?.contains(document.activeElement) !== true) return;
      document.querySelector<HTMLElement>("#main")?.focus();
    },
    [],
  );
  return own;
}
