// The `_meta` of one request: the host's own, and what the caller adds to it.

import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** What the caller adds to the `_meta` of one request. */
export interface CallerMeta {
  /** As the caller gave it: only some of its keys are sent. */
  meta?: JsonObject | undefined;
  /** In 2026-07-28: what is advertised with this request, instead of what the host itself can do. */
  capabilities?: JsonObject | undefined;
}

const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
/** W3C Trace Context and Baggage, which have no prefix in MCP. */
const TRACE_KEYS = new Set(["traceparent", "tracestate", "baggage"]);
/** A prefix of labels with dots between them, a slash, and a name. */
const VENDOR_KEY = /^([A-Za-z][A-Za-z0-9.-]{0,127})\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const RESERVED_LABELS = new Set(["modelcontextprotocol", "mcp"]);

/** `own` is the host's, which 2026-07-28 wants in every request. Undefined if there is nothing to send. */
export function metaFor(
  own: JsonObject | undefined,
  { meta, capabilities }: CallerMeta,
): JsonObject | undefined {
  if (meta === undefined && capabilities === undefined) return own;
  const added = isJsonObject(meta) ? Object.entries(meta).filter(([key]) => isForCaller(key)) : [];
  const sent: JsonObject = {
    ...Object.fromEntries(added),
    ...own,
    // A legacy server has learnt the capabilities in its handshake.
    ...(own !== undefined && capabilities !== undefined && { [CAPABILITIES_KEY]: capabilities }),
  };
  return Object.keys(sent).length === 0 ? undefined : sent;
}

/** Keys without a prefix, and prefixes with a label of the protocol's own, are the protocol's. */
function isForCaller(key: string): boolean {
  if (TRACE_KEYS.has(key)) return true;
  const prefix = VENDOR_KEY.exec(key)?.[1];
  if (prefix === undefined) return false;
  return !prefix.split(".").some((label) => RESERVED_LABELS.has(label.toLowerCase()));
}
