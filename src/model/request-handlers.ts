// Who answers what a server asks for in the middle of a call.

import type { OnElicitation } from "./elicitation.ts";
import type { OnSampling } from "./sampling.ts";

export interface RequestHandlers {
  /** Called when a server asks a person something. */
  onElicitation?: OnElicitation;
  /** Called when a server asks for the host's model, where its `sampling` lets it. */
  onSampling?: OnSampling;
}
