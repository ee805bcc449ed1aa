// Text to be copied as a whole, with a button for it where the browser has one.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";

export function Copyable({ text, label }: { text: string; label: string }): VNode {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text).then(
      () => {
        isCopied.value = true;
      },
      // If this fails, the text can still be selected and copied by hand.
      () => {},
    );
  };
  return (
    <div class="copyable">
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      {globalThis.isSecureContext && (
        <button type="button" aria-label={`Copy: ${label}`} onClick={() => void copy()}>
          {isCopied.value ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}
