// The demo server as a program: MCP over stdio, in both eras of the protocol. It exits when its stdin closes.

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createDemoServer } from "./create.ts";

serveStdio(() => createDemoServer());
