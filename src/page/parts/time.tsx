// Times as people say them, with the exact one where the pointer rests.

import { signal } from "@preact/signals";
import type { VNode } from "preact";

const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 1000);

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** `3 min` */
export function span(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? ["s", 1000];
  return `${Math.floor(ms / length)} ${unit}`;
}

/** `12 ms`, `1.4 s` */
export function took(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** `3 min waiting for answers`; what it stands beside leaves that time out. */
export function waiting(ms: number): string {
  return `${ms < 60_000 ? took(ms) : span(ms)} waiting for answers`;
}

export function Ago({ at }: { at: number }): VNode {
  const ms = now.value - at;
  const text = ms < 1000 && ms > -1000 ? "now" : ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`;
  return (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toLocaleString()}>
      {text}
    </time>
  );
}
