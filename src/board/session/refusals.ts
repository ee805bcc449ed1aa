// Why a session does not do what it is asked to.

import { PlugboardError } from "../../model/errors.ts";

export function isClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the session is closed");
}

export function isThere(name: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", `the session has a server '${name}' already`, {
    server: name,
    hint: "remove it first, or give the other one another name",
  });
}

export function isConfigured(name: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `server '${name}' is of the configuration`, {
    server: name,
    hint: "only what the session brought can be removed from it",
  });
}
