// What a tool has answered: text, pictures and structured content, none of it as anything but what it is.

import type { VNode } from "preact";
import type { PageCallEvents } from "../../serve/gateway/page/wire.ts";
import { escapedJsonLines, visible } from "../../util/visible.ts";
import { took } from "./time.tsx";

const LONGEST = 200_000;
/** What a browser shows without running anything. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function Result({ outcome }: { outcome: PageCallEvents["result"] }): VNode {
  const { isError, content, structured, ms, code } = outcome;
  return (
    <section class={isError ? "why" : undefined} aria-label="Result">
      <p>
        {isError ? `Failed${code === undefined ? "" : ` (${code})`}` : "Done"} after {took(ms)}
      </p>
      {content.map((block, at) => (
        <Block key={at} block={block} />
      ))}
      {structured !== undefined && (
        <>
          <h3>Structured content</h3>
          <pre tabIndex={0} aria-label="Structured content">
            <code>{escapedJsonLines(structured).slice(0, LONGEST)}</code>
          </pre>
        </>
      )}
    </section>
  );
}

function Block({ block }: { block: Readonly<Record<string, unknown>> }): VNode {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") {
    return (
      <pre tabIndex={0} aria-label="Text">
        {lines(text)}
      </pre>
    );
  }
  if (type === "image" && typeof data === "string" && PICTURES.has(String(mimeType))) {
    return <img src={`data:${String(mimeType)};base64,${data}`} alt="From the tool" />;
  }
  return (
    <pre tabIndex={0} aria-label={String(type)}>
      <code>{escapedJsonLines(block).slice(0, LONGEST)}</code>
    </pre>
  );
}

/** Lines stay lines. */
function lines(text: string): string {
  return text.slice(0, LONGEST).split("\n").map(visible).join("\n");
}
