// What the page asks the gateway for, besides the stream of events: one table of all that is in methods/, and who may ask.

import { signInsOf } from "../../../core/board/board.ts";
import type { SignOutOutcome } from "../../../core/types/authorization.ts";
import type { Board } from "../../../core/types/board.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { SharedState } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { ServerHistory } from "../monitoring/server-history.ts";
import type { ServedAgent } from "../agents.ts";
import type { AuditSearch } from "./audit.ts";
import type { Decisions } from "./decisions.ts";
import { approvalMethods } from "./methods/approvals.ts";
import { checked, type Method, type Methods } from "./method.ts";
import {
  configurationMethods,
  type ConfigurationMethodsOptions,
  requireConfiguration,
} from "./methods/configuration.ts";
import { pinMethods } from "./methods/pins.ts";
import { recordMethods } from "./methods/records.ts";
import { serverMethods } from "./methods/servers.ts";
import { tokenMethods, type TokenMethodsOptions } from "./methods/tokens.ts";
import { toolMethods } from "./methods/tools.ts";
import type { Visitor } from "./visitors.ts";
import type { WatchedCalls } from "./watched-calls.ts";
import type { PageRequests, UploadFacts } from "./wire.ts";

type PageAgent = Pick<ServedAgent, "id" | "board" | "isSignedInTo" | "ownersBoard">;

type OwnersBoard = Awaited<ReturnType<ServedAgent["ownersBoard"]>>;

export interface PageMethodsOptions extends ConfigurationMethodsOptions {
  state: Pick<SharedState, "pending" | "pins" | "limits" | "approvals" | "tokens">;
  /** The agents whose boards are open. */
  agents: () => readonly PageAgent[];
  /** Where somebody signs in to a server for themselves. */
  signInUrl: (agent: string, server: string) => string;
  calls: Pick<WatchedCalls, "show">;
  audit: Pick<AuditSearch, "find">;
  history: Pick<ServerHistory, "of">;
  decisions: Pick<Decisions, "record">;
  clock: Clock;
  /** What clients call the gateway, and the agents that it has. */
  clients: Pick<TokenMethodsOptions, "url" | "agentIds">;
}

/** How many requests one viewer may make in a minute. */
const VIEWER_REQUESTS = 240;

export class PageMethods {
  readonly #options: PageMethodsOptions;
  readonly #methods: Methods<keyof PageRequests>;

  constructor(options: PageMethodsOptions) {
    this.#options = options;
    const { state, agents, decisions, clock, clients } = options;
    const boardOf = (agent: string): Board => this.boardOf(agent);
    this.#methods = {
      ...toolMethods({ agents, boardOf, pins: state.pins }),
      ...approvalMethods(state, decisions),
      ...pinMethods(state, decisions),
      ...serverMethods(
        {
          boardOf,
          own: {
            signIn: (agent, server, visitor) =>
              this.#isOwn(agent, server, visitor) ? options.signInUrl(agent, server) : undefined,
            signOut: (agent, server, visitor) =>
              this.#isOwn(agent, server, visitor)
                ? this.#signOut(agent, server, visitor)
                : undefined,
          },
          history: options.history,
        },
        decisions,
      ),
      ...recordMethods({ audit: options.audit, calls: options.calls, agents, boardOf }),
      ...tokenMethods({ tokens: state.tokens, decisions, clock, ...clients }),
      ...configurationMethods(options),
    };
  }

  /** Rejects with a PlugboardError. */
  async run(name: string, body: JsonObject, visitor: Visitor): Promise<object> {
    if (!Object.hasOwn(this.#methods, name)) {
      throw new PlugboardError("UNSUPPORTED", `the gateway cannot do '${oneLine(name, 100)}'`);
    }
    const method = this.#methods[name as keyof PageRequests] as Method<keyof PageRequests>;
    const { role, nonce } = visitor;
    if (role !== "owner" && method.isForViewers !== true) throw notForViewers();
    if (role !== "owner") await this.#count(nonce);
    return method.run(checked(method.takes, body), visitor);
  }

  /** Takes a file that is sent by itself. Rejects with a PlugboardError. */
  async upload(
    name: string,
    chunks: AsyncIterable<Buffer>,
    { role }: Visitor,
  ): Promise<UploadFacts> {
    if (role !== "owner") throw notForViewers();
    return requireConfiguration(this.#options.configuration).upload(name, chunks);
  }

  /** A search costs more than it shows, and viewers have nothing to do in a hurry. */
  async #count(nonce: string): Promise<void> {
    const bucket = { key: `page ${nonce}`, perMinute: VIEWER_REQUESTS };
    const delay = await this.#options.state.limits.take([bucket], 0);
    if (delay?.isRefused)
      throw new PlugboardError("RATE_LIMITED", "too many requests; wait a moment");
  }

  /** Throws INVALID_ARGUMENTS for an agent that nobody has asked for yet. */
  boardOf(id: string): Board {
    return this.#agent(id).board;
  }

  /** Where people sign in to servers for themselves, a visitor makes calls on a board of their own. */
  boardFor(id: string, { person, name }: Visitor): OwnersBoard | Promise<OwnersBoard> {
    const agent = this.#agent(id);
    if (person === undefined) return { board: agent.board, release: () => {} };
    return agent.ownersBoard({ id: person, label: name });
  }

  #isOwn(agent: string, server: string, { person }: Visitor): boolean {
    return person !== undefined && this.#agent(agent).isSignedInTo(server);
  }

  async #signOut(agent: string, server: string, visitor: Visitor): Promise<SignOutOutcome> {
    const { board, release } = await this.boardFor(agent, visitor);
    return signInsOf(board).end(server).finally(release);
  }

  #agent(id: string): PageAgent {
    const found = this.#options.agents().find((agent) => agent.id === id);
    if (found !== undefined) return found;
    const message = `the agent '${oneLine(id, 100)}' is not configured, or nobody has used it yet`;
    throw new PlugboardError("INVALID_ARGUMENTS", message);
  }
}

export function notForViewers(): PlugboardError {
  return new PlugboardError("REFUSED_BY_POLICY", "a viewer changes nothing", {
    hint: "sign in as the owner: plugboard ui",
  });
}
