// Takes secrets out of a call's result, its progress updates and its errors.

import type {
  AudioContent,
  ContentBlock,
  ImageContent,
  ResourceContent,
} from "../types/content.ts";
import type { RedactedPart } from "../types/call-timeline.ts";
import type { Stage } from "../types/guard.ts";
import type { CallOutcome, UpdateListener } from "../types/tool.ts";

/** Base64 of a megabyte takes two milliseconds to search. What is longer is a recording, or made to take long. */
const LARGE = 1.5 * 1024 * 1024;

export interface ValueRedactor {
  /** Returns the same value if it found nothing. */
  value<T>(value: T): T;
}

interface ResultRedactor extends ValueRedactor {
  /** Which texts of a value have secrets, and where these are from. */
  partsWithSecrets(value: unknown): RedactedPart[];
  /** The same for the parts of one text: a secret may begin in one and end in another. */
  parts(parts: readonly string[]): readonly string[];
}

export function redactStage(redact: ResultRedactor): Stage {
  return {
    name: "secrets",
    before(call) {
      const { onUpdate } = call;
      if (onUpdate !== undefined) call.onUpdate = redactUpdates(onUpdate, redact);
      return undefined;
    },
    after({ timeline }, outcome) {
      const told = redactOutcome(outcome, redact);
      if (timeline !== undefined && told !== outcome) {
        const { content, structuredContent } = outcome;
        timeline.redacted = redact.partsWithSecrets({ content, structuredContent });
      }
      return told;
    },
    failed(_, error) {
      throw redact.value(error);
    },
  };
}

function redactUpdates(onUpdate: UpdateListener, redact: ResultRedactor): UpdateListener {
  return ({ content, progress }) =>
    onUpdate({
      content: redactBlocks(content, redact),
      progress: progress && redact.value(progress),
    });
}

function redactOutcome(outcome: CallOutcome, redact: ResultRedactor): CallOutcome {
  const { inputRequired } = outcome;
  if (inputRequired !== undefined) {
    // The state stays as it is: a server would not take back a state that was changed.
    const { requestState } = inputRequired;
    const asked = { inputRequests: redact.value(inputRequired.inputRequests) };
    const required = requestState === undefined ? asked : { ...asked, requestState };
    return { ...redact.value({ ...outcome, inputRequired: undefined }), inputRequired: required };
  }
  const whole = withoutDivided(outcome.content, redact);
  if (!whole.some(isLarge)) {
    return redact.value(whole === outcome.content ? outcome : { ...outcome, content: whole });
  }
  const { content: _, ...rest } = outcome;
  return {
    ...redact.value(rest),
    content: whole.map((block) => redactBlock(block, redact)),
  };
}

function redactBlocks(blocks: ContentBlock[], redact: ResultRedactor): ContentBlock[] {
  const whole = withoutDivided(blocks, redact);
  return whole.some(isLarge)
    ? whole.map((block) => redactBlock(block, redact))
    : redact.value(whole);
}

/** Removes secrets that go over several blocks: whoever reads the result puts its texts together. */
function withoutDivided(blocks: ContentBlock[], redact: ResultRedactor): ContentBlock[] {
  // Most results have one block, and every call pays for what is done before this.
  if (blocks.length < 2) return blocks;
  const texts = blocks.flatMap((block) => textOf(block) ?? []);
  if (texts.length < 2) return blocks;
  const told = redact.parts(texts);
  if (told === texts) return blocks;
  const rest = told.values();
  return blocks.map((block) => {
    if (textOf(block) === undefined) return block;
    const text = rest.next().value ?? "";
    if (block.type === "resource") return { ...block, resource: { ...block.resource, text } };
    return { ...block, text } as ContentBlock;
  });
}

function textOf(block: ContentBlock): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "resource" ? block.resource.text : undefined;
}

function redactBlock(block: ContentBlock, redact: ResultRedactor): ContentBlock {
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
