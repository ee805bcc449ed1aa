// Typed events. A listener that throws, or whose promise is rejected, affects neither the emitter nor the other listeners.

import { tell } from "./tell.ts";

export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof Events>(event: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  has(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    for (const listener of this.#listeners.get(event) ?? []) {
      tell(() => (listener as (event: Events[Name]) => unknown)(value), this.#onListenerError);
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
