// The outcome of something a caller may have asked for wrongly: a value, or words that help to ask better.

export type Attempt<Value> = { ok: true; value: Value } | { ok: false; problem: string };

export function success<Value>(value: Value): Attempt<Value> {
  return { ok: true, value };
}

export function problem(text: string): { ok: false; problem: string } {
  return { ok: false, problem: text };
}
