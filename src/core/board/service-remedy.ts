// What to do where a tool's own error says that the service behind it, such as a database, does not answer.

import { findCause } from "../upstream/log/find-cause.ts";

export function serviceRemedy(errorText: string): string | undefined {
  const cause = findCause({ stderr: errorText.split("\n"), stdout: [] });
  return cause?.name === "connection-refused" ? cause.remedy : undefined;
}
