// The secrets and variables that the configuration refers to: whether each can be had. No value is shown.

import { visible } from "../../../util/visible.ts";
import { causeOf, type CheckedReference, checkReferences } from "../secrets/check.ts";
import type { CheckGroup, Finding } from "./finding.ts";

export const secretsGroup: CheckGroup = {
  title: "Secrets",
  concernsServer: true,
  async run({ quiet, config, server }) {
    const found = await config();
    if (found.kind !== "usable") return [];
    const { servers } = found.agent;
    const asked = server === undefined ? servers : servers.filter(({ name }) => name === server);
    const checked = await checkReferences({ ...found.agent, servers: asked }, quiet);
    return checked.map(toFinding);
  },
};

function toFinding({ server, key, reference, failure, warning }: CheckedReference): Finding {
  const about = { check: "secret", subject: visible(server ?? key) };
  const name =
    server === undefined ? visible(reference) : `${visible(reference)} in ${visible(key)}`;
  if (failure !== undefined) {
    const cause = causeOf(failure);
    return {
      ...about,
      level: "broken",
      // A missing variable is named with its place already.
      message: cause.includes(key) ? cause : `${name} cannot be had: ${cause}`,
      remedy: failure.hint ?? "set it, or change the reference in the configuration",
    };
  }
  if (warning === undefined) return { ...about, level: "ok", message: name };
  return {
    ...about,
    level: "warning",
    message: `${name}: ${warning}`,
    remedy: "use a longer value, so that it can be taken out of what servers answer",
  };
}
