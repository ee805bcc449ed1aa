// The headers with which a request of 2026-07-28 repeats parts of its body, so that proxies can route by them. One that
// is missing, or says something else than the body, is refused: the proxy may have decided by it.

import type { IncomingHttpHeaders } from "node:http";
import { type JsonObject, objectIn } from "../../../core/types/json.ts";
import {
  decodeHeaderValue,
  nameIn,
  type ParamHeader,
  paramHeaders,
  readParamHeaders,
} from "../../../core/types/param-headers.ts";
import { type Answer, refuse, RPC, type RpcRequest } from "../message.ts";

/** Undefined if the headers agree with the body. */
export function headerFault(
  { method, params }: RpcRequest,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  const said = headers["mcp-method"];
  if (headers["mcp-protocol-version"] === undefined) return missing("MCP-Protocol-Version");
  if (typeof said !== "string") return missing("Mcp-Method");
  if (said.trim() !== method) return mismatch(`Mcp-Method says ${said}, and the body ${method}`);
  const name = nameIn(method, params);
  if (name === undefined) return undefined;
  const header = headers["mcp-name"];
  if (typeof header !== "string") return missing("Mcp-Name");
  const decoded = decodeHeaderValue(header);
  if (decoded === undefined) return mismatch("Mcp-Name is not valid base64");
  return decoded === name ? undefined : mismatch("Mcp-Name and the body name different things");
}

/** What schemas say, read once: to search a schema with every call would cost more than the rest of the checks. */
const declaredIn = new WeakMap<JsonObject, ReturnType<typeof readParamHeaders>>();

/** The same for the arguments that a tool wants repeated (`x-mcp-header`). */
export function paramHeaderFault(
  inputSchema: JsonObject,
  args: unknown,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  let declared = declaredIn.get(inputSchema);
  if (declared === undefined) {
    declared = readParamHeaders(inputSchema);
    declaredIn.set(inputSchema, declared);
  }
  if (typeof declared === "string") return undefined;
  for (const each of declared) {
    const fault = oneParamFault(each, objectIn(args), headers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function oneParamFault(
  declared: ParamHeader,
  args: JsonObject,
  headers: IncomingHttpHeaders,
): Answer | undefined {
  const name = `Mcp-Param-${declared.header}`;
  const given = headers[name.toLowerCase()];
  const expected = paramHeaders([declared], args)[name.toLowerCase()];
  if (expected === undefined) {
    return given === undefined ? undefined : mismatch(`${name} has no counterpart in the body`);
  }
  if (typeof given !== "string") return missing(name);
  const decoded = decodeHeaderValue(given);
  if (decoded === undefined) return mismatch(`${name} is not valid base64`);
  return decoded === decodeHeaderValue(expected)
    ? undefined
    : mismatch(`${name} and the body differ`);
}

function missing(header: string): Answer {
  return refuse(RPC.headerMismatch, `Bad Request: the header ${header} is missing`);
}

function mismatch(what: string): Answer {
  return refuse(RPC.headerMismatch, `Bad Request: ${what}`);
}
