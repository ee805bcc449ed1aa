// The secrets and variables that the configuration refers to: whether each can be had. No value is shown.

import { oneLine } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { type CheckedReference, checkReferences } from "../secrets/check.ts";
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
    return {
      ...about,
      level: "broken",
      // The server that needs the secret fails with the same words, so the doctor tells them once.
      message: oneLine(failure.message, 500),
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
