// A Connection without a server behind it, for tests of what happens around one.

import type { Connection, ServerIdentity, ToolList } from "../../src/core/types/connection.ts";
import type { ServerContent } from "../../src/core/types/server-content.ts";
import type { PlugboardError } from "../../src/core/types/errors.ts";

export class FakeConnection implements Connection {
  readonly identity: ServerIdentity = { era: "legacy", protocolVersion: "2025-11-25" };
  readonly pid = 4242;
  readonly content: ServerContent = {
    has: { resources: false, subscriptions: false, prompts: false, completions: false },
    listResources: async () => ({ resources: [], templates: [], diagnostics: [] }),
    listPrompts: async () => ({ prompts: [], diagnostics: [] }),
    readResource: async () => ({}),
    getPrompt: async () => ({}),
    complete: async () => ({}),
    subscribe: async () => {},
    unsubscribe: async () => {},
    onChange: () => {},
  };
  readonly closed: Promise<PlugboardError | undefined>;
  lists = 0;
  closes = 0;
  /** What the next listTools answers; a function may reject or never settle. */
  answer: () => Promise<ToolList> = async () => ({
    tools: [],
    diagnostics: [],
    capabilities: {},
  });
  /** What close waits for. */
  closing: Promise<void> = Promise.resolve();
  #end: (reason: PlugboardError | undefined) => void = () => {};
  #changed: (() => void)[] = [];

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  crash(reason: PlugboardError): void {
    this.#end(reason);
  }

  changeTools(): void {
    for (const listener of this.#changed) listener();
  }

  listTools(): Promise<ToolList> {
    this.lists += 1;
    return this.answer();
  }

  async callTool(): Promise<unknown> {
    return { content: [] };
  }

  async ping(): Promise<number | undefined> {
    return 1;
  }

  onToolsChanged(listener: () => void): void {
    this.#changed.push(listener);
  }

  missing(): undefined {}

  stderrTail(): string[] {
    return ["last words"];
  }

  async close(): Promise<void> {
    this.closes += 1;
    this.#end(undefined);
    await this.closing;
  }
}
