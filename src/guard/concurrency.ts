// How many calls may be under way at once: to a server, and to one of its tools. More of them wait, in
// order and before the call is sent, so that the wait is no part of `toolTimeout`.

import type { Stage, StageFor, ToolSubject } from "../model/guard.ts";
import { countedAs, exceptionFor, type ServerGuards } from "./server-guards.ts";
import { Slots } from "./slots.ts";

export function concurrencyStage(servers: ServerGuards): StageFor {
  /** Kept by name: a tool that changes does not get places of its own beside those in use. */
  const slots = new Map<string, Slots>();

  function slotsFor(subject: ToolSubject, name: string, count: number | undefined): Slots[] {
    if (count === undefined) return [];
    const key = countedAs(subject, name);
    const known = slots.get(key) ?? new Slots(count);
    slots.set(key, known);
    return [known];
  }

  return (subject) => {
    if (subject.source.kind !== "mcp") return undefined;
    const { concurrency } = servers.own(subject);
    // The tool's first: who waits for that must not keep a place of the server from others.
    const needed = [
      ...slotsFor(subject, subject.canonical, exceptionFor(concurrency, subject)),
      ...slotsFor(subject, subject.source.server, concurrency?.default),
    ];
    return needed.length === 0 ? undefined : inSlots(needed);
  };
}

function inSlots(needed: readonly Slots[]): Stage {
  return async (call, next) => {
    const entered: Slots[] = [];
    try {
      for (const each of needed) {
        const wait = each.enter(call.signal);
        if (wait !== undefined) await wait;
        entered.push(each);
      }
      return await next(call);
    } finally {
      for (const each of entered) each.leave();
    }
  };
}
