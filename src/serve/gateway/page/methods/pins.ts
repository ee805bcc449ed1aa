// Definitions that are not as they were pinned: how they differ, and their approval.

import { z } from "zod";
import { changesOf, entriesIn, PinReview } from "../../../../core/board/pins.ts";
import { PlugboardError } from "../../../../core/types/errors.ts";
import type { PinEntry } from "../../../../core/types/pin.ts";
import type { SharedState } from "../../../../core/types/shared-state.ts";
import type { Decisions } from "../decisions.ts";
import type { PageRequests } from "../wire.ts";
import { LONGEST_TOOL, type Methods, NAME } from "../method.ts";

const PIN = z.strictObject({
  server: NAME,
  key: NAME,
  tool: z.string().max(LONGEST_TOOL).optional(),
  hash: NAME,
});

export function pinMethods(
  { pins }: Pick<SharedState, "pins">,
  decisions: Pick<Decisions, "record">,
): Methods<"pins/show" | "pins/approve"> {
  return {
    "pins/show": {
      isForViewers: true,
      takes: PIN,
      run: async (pin) => {
        const { changes, isCut } = changesOf(await findPin(pin, pins));
        return { parts: changes, isCut };
      },
    },
    "pins/approve": {
      takes: PIN,
      run: async (pin, visitor) => {
        const review = new PinReview(pins);
        if (!(await review.approve(await findPin(pin, pins)))) throw changedAgain();
        const { server, tool } = pin;
        const decided =
          tool === undefined ? "approve changed instructions" : "approve a definition";
        await decisions.record(visitor, { decided, server, tool });
        return {};
      },
    },
  };
}

/** Rejects if it is no longer as the page has shown it. */
async function findPin(
  { server, key, tool, hash }: PageRequests["pins/show"]["takes"],
  pins: SharedState["pins"],
): Promise<PinEntry> {
  const all = await pins.list();
  const entries = all
    .filter((each) => each.server === server && each.key === key)
    .flatMap(entriesIn);
  const found = entries.find((entry) =>
    tool === undefined
      ? entry.kind === "instructions"
      : entry.kind === "tool" && entry.tool === tool,
  );
  if (found !== undefined && found.pin.kind !== "pinned" && found.pin.pending.hash === hash)
    return found;
  throw changedAgain();
}

function changedAgain(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "this definition is no longer as it was shown", {
    hint: "it was approved elsewhere, or has changed again: look at it again",
  });
}
