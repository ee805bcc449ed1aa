// The package ipaddr.js, by `require`: for an import of a CommonJS module, Node first searches its text for what it
// exports, which takes ten times as long as running it.

import { createRequire } from "node:module";

export const ipaddr = createRequire(import.meta.url)("ipaddr.js") as typeof import("ipaddr.js");
