// Loads what starts servers with the first start: a list from the cache needs none of it.

import type { ServerOpenerOptions } from "../server/open.ts";
import type { OpenConnection } from "../server/open-connection.ts";

export function lazyOpener(options: ServerOpenerOptions): OpenConnection {
  let opener: Promise<OpenConnection> | undefined;
  return async (signal, onRemains) => {
    opener ??= import("../server/open.ts").then(({ createOpener }) => createOpener(options));
    return (await opener)(signal, onRemains);
  };
}
