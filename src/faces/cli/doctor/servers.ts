// Each server, from its command to its tools.

import type { CheckGroup } from "./finding.ts";

export const serversGroup: CheckGroup = {
  title: "Servers",
  concernsServer: true,
  run: () => Promise.resolve([]),
};
