// Takes secrets out of what a call answers, reports on its way, or fails with.

import type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
} from "../model/content.ts";
import type { GuardedCall, Stage } from "../model/guard.ts";
import type { CallOutcome } from "../model/tool.ts";

/** base64 of this many characters is a picture or a recording, and too long to look for words in. */
const LARGE = 64 * 1024;

export interface Redact {
  /** The same value where nothing was found. */
  value<T>(value: T): T;
}

export function redactStage(redact: Redact): Stage {
  return async (call, next) => {
    try {
      return redactOutcome(await next(withUpdates(call, redact)), redact);
    } catch (error) {
      throw redact.value(error);
    }
  };
}

/** The same call to everybody but its listener: what later stages decide is decided for all. */
function withUpdates(call: GuardedCall, redact: Redact): GuardedCall {
  const { callId, subject, args, signal, onUpdate, handlers } = call;
  if (onUpdate === undefined) return call;
  return {
    callId,
    subject,
    args,
    signal,
    handlers,
    onUpdate: (update) => {
      const content = redactBlocks(update.content, redact);
      const { progress } = update;
      onUpdate({ content, ...(progress !== undefined && { progress: redact.value(progress) }) });
    },
    get decision() {
      return call.decision;
    },
    set decision(decision) {
      call.decision = decision;
    },
  };
}

function redactOutcome(outcome: CallOutcome, redact: Redact): CallOutcome {
  if (!outcome.content.some(isLarge)) return redact.value(outcome);
  const { content, ...rest } = outcome;
  return { ...redact.value(rest), content: redactBlocks(content, redact) };
}

function redactBlocks(blocks: ContentBlock[], redact: Redact): ContentBlock[] {
  return blocks.some(isLarge)
    ? blocks.map((block) => redactBlock(block, redact))
    : redact.value(blocks);
}

function redactBlock(block: ContentBlock, redact: Redact): ContentBlock {
  if (!isLarge(block)) return redact.value(block);
  if (block.type !== "resource") {
    const { data, ...rest } = block;
    return { ...redact.value(rest), data };
  }
  const { blob, ...resource } = block.resource;
  const rest = redact.value({ ...block, resource });
  return { ...rest, resource: { ...rest.resource, ...(blob !== undefined && { blob }) } };
}

type Binary = ImageContent | AudioContent | ResourceContent;

function isLarge(block: ContentBlock): block is Binary {
  switch (block.type) {
    case "image":
    case "audio":
      return block.data.length >= LARGE;
    case "resource":
      return (block.resource.blob?.length ?? 0) >= LARGE;
    default:
      return false;
  }
}
