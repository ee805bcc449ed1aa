// What a board must not tell, and the parts that know it: its redactor, its log without secrets, the secrets of its agent
// and the credentials of its servers.

import type { AgentConfig } from "../types/agent-config.ts";
import type { BoardOptions } from "../types/board-options.ts";
import { type Logger, silentLogger } from "../types/logger.ts";
import type { SecretReview } from "../types/secret-use.ts";
import { credentialsInUrl } from "../redaction/collect.ts";
import { redactingLogger, Redactor } from "../redaction/redactor.ts";
import { ModelKeyFile } from "../state/model-key-file.ts";
import { proxiesIn } from "../process/environment.ts";
import type { Clock } from "../../util/clock.ts";
import type { Environment } from "../../util/environment.ts";
import { AgentSecrets } from "./agent-secrets.ts";
import { reviewSecrets } from "./secret-review.ts";
import { ServerSecrets } from "./server-secrets.ts";

export interface BoardSecretsOptions {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  /** For a session's board: those of the agent's. */
  base: BoardSecrets | undefined;
}

export class BoardSecrets {
  /** Also redacts what the agent's board knows. */
  readonly redactor: Redactor;
  readonly logger: Logger;
  readonly ofServers: ServerSecrets;
  /** A session's board uses those of its agent's board. */
  readonly #ofAgent: AgentSecrets;
  readonly #isOfSession: boolean;
  readonly #env: Environment;

  constructor({ agent, options, clock, base }: BoardSecretsOptions) {
    const { env = process.env } = options;
    const redactor = new Redactor(base?.redactor);
    const logger = redactingLogger(options.logger ?? silentLogger, redactor);
    this.redactor = redactor;
    this.logger = logger;
    this.#isOfSession = base !== undefined;
    this.#ofAgent =
      base === undefined
        ? new AgentSecrets({
            settings: agent.secrets,
            proxy: agent.networkProxy,
            env,
            clock,
            logger,
            path: options.programPath,
            providers: options.secretProviders,
            onValue: (value, place) => redactor.addCertain(value, place),
          })
        : base.#ofAgent;
    this.ofServers = new ServerSecrets({ env, redactor, logger, secrets: this.#ofAgent });
    redactor.addNames(agent.servers.map(({ name }) => name));
    for (const key of storedModelKeys(options)) redactor.add(key);
    this.#env = env;
    this.#learnProxies(agent);
  }

  /** The secrets of the agent, whose configuration is read whenever somebody asks. */
  review(agent: () => AgentConfig): SecretReview {
    return reviewSecrets({ agent, secrets: this.#ofAgent });
  }

  reconfigure(agent: AgentConfig): void {
    if (!this.#isOfSession) this.#ofAgent.reconfigure(agent.secrets);
    this.#learnProxies(agent);
  }

  /** Servers get the proxy with its password. */
  #learnProxies({ networkProxy = "" }: AgentConfig): void {
    const proxies = [...proxiesIn(this.#env).map(({ proxy }) => proxy), networkProxy];
    const credentials = proxies.flatMap(credentialsInUrl);
    this.redactor.replace("the proxy", credentials);
  }

  async close(): Promise<void> {
    if (!this.#isOfSession) await this.#ofAgent.close();
  }
}

/** A server that reads files can read the file that they are in. */
function storedModelKeys({ stateDir }: BoardOptions): Iterable<string> {
  return stateDir === undefined ? [] : new ModelKeyFile(stateDir).readNow();
}
