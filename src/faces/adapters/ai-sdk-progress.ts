// A call of the AI SDK that can be watched: signs of life as preliminary results, then the result.

import type { ToolResult, ToolUpdate, UpdateListener } from "../../model/tool.ts";

/** To be awaited for the result alone, or iterated for what comes before it as well. */
export type Watched = Promise<ToolResult> & AsyncIterable<ToolResult>;

/** `run` must not reject. */
export function watched(run: (onUpdate: UpdateListener) => Promise<ToolResult>): Watched {
  const waiting: ToolResult[] = [];
  let wake = (): void => {};
  let ended = false;
  const result = run((update) => {
    waiting.push(toPreliminary(update));
    wake();
  }).finally(() => {
    ended = true;
    wake();
  });

  async function* watch(): AsyncGenerator<ToolResult> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (ended) break;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    yield await result;
  }

  return Object.assign(result, { [Symbol.asyncIterator]: watch });
}

function toPreliminary({ content, progress }: ToolUpdate): ToolResult {
  return { content, ...(progress !== undefined && { details: { progress } }) };
}
