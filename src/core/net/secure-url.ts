// The rule for an address that is trusted with what it answers: https, or this machine.

import { plainHost } from "./host-list.ts";
import { isLocal } from "./policy.ts";

/** What is wrong with the base address of a service, to be put after it; undefined if it can be used. */
export function secureUrlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return "is not a URL; expected one such as https://registry.example.com";
  const { protocol, hostname, username, password, search, hash } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && isLocal(plainHost(hostname)))) {
    return "is not an https URL; expected one, or http on this machine";
  }
  if (username !== "" || password !== "") return "has a user name or password in it";
  return search === "" && hash === "" ? undefined : "has a query or a fragment; expected none";
}
