// The handlers of what a server asks in the middle of a call.

import type { OnElicitation } from "./elicitation.ts";
import type { OnSampling } from "./sampling.ts";

export interface RequestHandlers {
  /** Called when a server asks a person something. */
  onElicitation?: OnElicitation;
  /** Called when a server asks for your model. Its `sampling` setting must allow that. */
  onSampling?: OnSampling;
}
