// Takes secrets out of a call's result, its progress updates and its errors.

import type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
} from "../model/content.ts";
import type { GuardedCall, Stage } from "../model/guard.ts";
import type { CallOutcome } from "../model/tool.ts";

/** Longer base64 is a picture or a recording. Searching it for secrets would take too long. */
const LARGE = 64 * 1024;

export interface ValueRedactor {
  /** Returns the same value if it found nothing. */
  value<T>(value: T): T;
}

export function redactStage(redact: ValueRedactor): Stage {
  return async (call, next) => {
    try {
      return redactOutcome(await next(withUpdates(call, redact)), redact);
    } catch (error) {
      throw redact.value(error);
    }
  };
}

/** The same call with another listener. Its decision is shared, so that what later stages decide reaches the audit. */
function withUpdates(call: GuardedCall, redact: ValueRedactor): GuardedCall {
  const { callId, subject, args, signal, onUpdate, handlers, notify, audit } = call;
  if (onUpdate === undefined) return call;
  return {
    callId,
    subject,
    args,
    signal,
    handlers,
    notify,
    audit,
    onUpdate: (update) => {
      const content = redactBlocks(update.content, redact);
      const { progress } = update;
      onUpdate({ content, progress: progress && redact.value(progress) });
    },
    get decision() {
      return call.decision;
    },
    set decision(decision) {
      call.decision = decision;
    },
  };
}

function redactOutcome(outcome: CallOutcome, redact: ValueRedactor): CallOutcome {
  if (!outcome.content.some(isLarge)) return redact.value(outcome);
  const { content, ...rest } = outcome;
  return { ...redact.value(rest), content: redactBlocks(content, redact) };
}

function redactBlocks(blocks: ContentBlock[], redact: ValueRedactor): ContentBlock[] {
  return blocks.some(isLarge)
    ? blocks.map((block) => redactBlock(block, redact))
    : redact.value(blocks);
}

function redactBlock(block: ContentBlock, redact: ValueRedactor): ContentBlock {
  if (!isLarge(block)) return redact.value(block);
  if (block.type !== "resource") {
    const { data, ...rest } = block;
    return { ...redact.value(rest), data };
  }
  const { blob, ...resource } = block.resource;
  const rest = redact.value({ ...block, resource });
  return { ...rest, resource: { ...rest.resource, blob } };
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
