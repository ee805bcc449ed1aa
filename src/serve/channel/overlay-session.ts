// The board of one session of an attached command: the gateway's servers, and over them the servers and tools that the
// session brought or that the configuration starts for each session.

import type { SessionBoard } from "../../core/types/board.ts";
import { unknownServer } from "../../core/types/errors.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { Overlay, type OverlayOptions } from "./overlay.ts";

export interface OverlaySessionOptions extends OverlayOptions<SessionBoard> {
  own: SessionBoard;
  onClosed: () => void;
}

export class OverlaySession extends Overlay<SessionBoard, SessionBoard> implements SessionBoard {
  readonly #own: SessionBoard;
  readonly #onClosed: () => void;
  /** Names of shared servers that the session's user has disabled. */
  readonly #disabled = new Set<string>();
  /** Names of shared servers that one of the session's own replaces. */
  readonly #shadowed = new Set<string>();
  #closing: Promise<void> | undefined;

  /** `shared` must not have the servers that the session's own replace. */
  constructor(shared: SessionBoard, options: OverlaySessionOptions) {
    super(shared, options);
    this.#own = options.own;
    this.#onClosed = options.onClosed;
    this.replaced(shared);
    this.#shadow();
  }

  get id(): string {
    return this.#own.id;
  }

  get cwd(): string {
    return this.#own.cwd;
  }

  get notices(): readonly string[] {
    return [...this.lastShared.notices, ...this.#own.notices];
  }

  /** Names of the shared servers that the session does not have now, for a new shared part. */
  get withheld(): string[] {
    return [...new Set([...this.#disabled, ...this.#own.status().map(({ name }) => name)])];
  }

  async restart(server: string): Promise<ServerStatus> {
    return (await this.#partOf(server)).restart(server);
  }

  async setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    const part = await this.#partOf(server);
    const status = await part.setEnabled(server, enabled);
    if (part === this.#own) return status;
    if (enabled) this.#disabled.delete(server);
    else this.#disabled.add(server);
    return status;
  }

  async wake(): Promise<void> {
    const shared = this.whenShared().then((part) => part.wake());
    // Without a gateway there is nothing to wake.
    await Promise.all([this.#own.wake(), shared.catch(() => {})]);
  }

  async add(name: string, config: ServerConfig): Promise<ServerStatus> {
    const status = await this.#own.add(name, config);
    this.ownServersChanged();
    return status;
  }

  async remove(name: string): Promise<void> {
    await (await this.#partOf(name)).remove(name);
    this.ownServersChanged();
  }

  setRoots(roots: readonly string[]): void {
    this.#own.setRoots(roots);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.closes();
    await Promise.all([this.#own.close(), this.closeShared(this.lastShared)]);
    this.clearEvents();
    this.#onClosed();
  }

  protected override ownServersChanged(): void {
    super.ownServersChanged();
    this.#shadow();
  }

  protected override discard(shared: SessionBoard): void {
    void shared.close();
  }

  protected override sharedChanged(): void {
    this.#shadow();
  }

  /** A new shared part was opened without the servers that the session's own replace. */
  protected override replaced(shared: SessionBoard): void {
    this.#shadowed.clear();
    for (const { name } of shared.status()) if (this.isOwnServer(name)) this.#shadowed.add(name);
  }

  async #partOf(server: string): Promise<SessionBoard> {
    if (this.isOwnServer(server)) return this.#own;
    const names = this.status().map(({ name }) => name);
    if (!names.includes(server)) throw unknownServer(server, names);
    return this.whenShared();
  }

  /** Has the gateway leave out of the session what the session's own servers replace, and nothing else. */
  #shadow(): void {
    for (const { name } of this.lastShared.status()) {
      const isReplaced = this.isOwnServer(name);
      if (isReplaced === this.#shadowed.has(name)) continue;
      if (isReplaced) this.#shadowed.add(name);
      else this.#shadowed.delete(name);
      if (!this.#disabled.has(name)) this.#enableShared(name, !isReplaced);
    }
  }

  #enableShared(name: string, enabled: boolean): void {
    this.lastShared.setEnabled(name, enabled).catch((error: unknown) => {
      const what = enabled ? "put back into" : "left out of";
      this.options.logger.debug(`a server of the gateway could not be ${what} the session`, {
        server: name,
        reason: String(error),
      });
    });
  }
}
