// Loads what starts servers with the first start: a list from the cache needs none of it.

import type { OpenerOptions } from "../server/open.ts";
import type { OpenConnection } from "../server/open-stdio.ts";

export function lazyOpener(options: OpenerOptions): OpenConnection {
  let opener: Promise<OpenConnection> | undefined;
  return async (signal, onRemains) => {
    opener ??= import("../server/open.ts").then(({ createOpener }) => createOpener(options));
    return (await opener)(signal, onRemains);
  };
}
