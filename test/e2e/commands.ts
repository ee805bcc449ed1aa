// Commands that run beside each other in the directory of a test, each with everything that it has printed.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { eventually, expectNoProcesses, isAlive } from "../support/processes.ts";
import { plugboard, type useAgents } from "./acp-agent.ts";

/** The configuration that `configure` writes. */
export const FILE = ["--config", "config.json"];

/** To be called once at the top of a suite: what it has started is ended after each test. */
export function useCommands(desk: ReturnType<typeof useAgents>) {
  const started: Command[] = [];

  afterEach(async () => {
    for (const command of started.splice(0)) await command.kill();
    expectNoProcesses(desk.marker);
  });

  const keep = <T extends Command>(command: T): T => {
    started.push(command);
    return command;
  };
  return {
    configure(config: object): void {
      writeFileSync(join(desk.directory, "config.json"), JSON.stringify(config));
    },
    run: (...args: string[]): Command => keep(new Command(desk.directory, [...FILE, ...args])),
    /** A client on stdio of a command that serves. */
    client: (...args: string[]): Client => keep(new Client(desk.directory, [...FILE, ...args])),
  };
}

/** Any command, with everything that it has printed. */
class Command {
  readonly process: ReturnType<typeof plugboard>;
  readonly exited: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(directory: string, args: readonly string[]) {
    this.process = plugboard(directory, args);
    this.exited = once(this.process, "close").then(([code]) => code as number | null);
    this.process.stdin.on("error", () => {});
    this.process.stdout.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
  }

  said(text: string): Promise<void> {
    return eventually(() => this.stderr.includes(text));
  }

  /** As a crash would. Resolves when nothing of it is left. */
  async kill(): Promise<void> {
    const { pid } = this.process;
    if (pid !== undefined && isAlive(pid)) this.process.kill("SIGKILL");
    await this.exited;
  }
}

/** A client on stdio, with messages as lines. */
class Client extends Command {
  #ids = 0;

  async request(method: string, params: object = {}): Promise<string> {
    this.#ids += 1;
    const id = this.#ids;
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = (): string | undefined =>
      this.stdout.split("\n").find((line) => line.includes(`"id":${id},`) && line.endsWith("}"));
    await eventually(() => answer() !== undefined);
    return JSON.stringify(JSON.parse(answer() ?? "").result);
  }

  call(name: string, args: object = {}): Promise<string> {
    return this.request("tools/call", { name, arguments: args });
  }
}
