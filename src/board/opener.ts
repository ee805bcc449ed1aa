// Loads the code that connects to servers with the first start: listing tools from the cache needs none of it.

import type { Connect, ConnectOptions } from "../server/connect.ts";

export function lazyConnector(options: ConnectOptions): Connect {
  let connector: Promise<Connect> | undefined;
  return async (signal, onRemains) => {
    connector ??= import("../server/connect.ts").then(({ createConnector }) =>
      createConnector(options),
    );
    return (await connector)(signal, onRemains);
  };
}
