// What both of OpenAI's APIs ask of a list of tools.

import type { Board } from "../../model/board.ts";
import { Offer, type OfferedTool, type OfferOptions } from "./shared-offer.ts";
import type { Carries } from "./shared-parts.ts";

export interface OpenAiOptions extends OfferOptions {
  /** Schemas in the strict form, which the model cannot break; one that has no such form stays as it is. */
  strict?: boolean;
  /** What the model takes beside text. Default: images and PDF. Audio is for the chat API alone. */
  carries?: Carries;
}

const MAX_TOOLS = 128;

export function offerFor(board: Pick<Board, "tools">, options: OpenAiOptions): Offer {
  const providers = options.strict ? (["openai-strict", "openai"] as const) : (["openai"] as const);
  return new Offer(board, { providers, maxTools: MAX_TOOLS }, options);
}

export function isStrict({ provider }: OfferedTool): boolean {
  return provider === "openai-strict";
}
