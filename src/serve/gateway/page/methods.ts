// What the page can ask the gateway to do: one table, with who may ask and what a request looks like.

import { z } from "zod";
import type { Board } from "../../../core/types/board.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type { SharedState } from "../../../core/types/shared-state.ts";
import { oneLine } from "../../../util/text.ts";
import type { Visitor } from "./visitors.ts";

export interface PageMethodsOptions {
  state: Pick<SharedState, "pending">;
  /** The board of an agent, opened if need be. Undefined for an agent that is not configured. */
  boardOf: (agent: string) => Promise<Board | undefined>;
}

interface Method {
  run(body: JsonObject): Promise<object>;
}

const LONGEST_NAME = 500;
const NAME = z.string().min(1).max(LONGEST_NAME);

export class PageMethods {
  readonly #methods: ReadonlyMap<string, Method>;

  constructor({ state, boardOf }: PageMethodsOptions) {
    const board = async (agent: string): Promise<Board> => {
      const found = await boardOf(agent);
      if (found !== undefined) return found;
      throw new PlugboardError("INVALID_ARGUMENTS", `there is no agent '${oneLine(agent, 100)}'`);
    };
    this.#methods = new Map([
      [
        "approvals/answer",
        method(
          z.strictObject({ id: NAME, answer: z.enum(["once", "always", "refuse"]) }),
          async ({ id, answer }) => {
            const question = (await state.pending.list()).find((each) => each.id === id);
            const isTaken =
              question !== undefined && (await state.pending.answer(question, answer));
            if (isTaken) return {};
            throw new PlugboardError("INVALID_ARGUMENTS", "this call no longer waits", {
              hint: "it was answered elsewhere, its time was over, or its caller has gone",
            });
          },
        ),
      ],
      [
        "servers/restart",
        method(z.strictObject({ agent: NAME, server: NAME }), async ({ agent, server }) => {
          const { state: after } = await (await board(agent)).restart(server);
          return { state: after.kind };
        }),
      ],
    ]);
  }

  async run(name: string, body: JsonObject, visitor: Visitor): Promise<object> {
    const found = this.#methods.get(name);
    if (found === undefined) {
      throw new PlugboardError("UNSUPPORTED", `the gateway cannot do '${oneLine(name, 100)}'`);
    }
    if (visitor.role !== "owner") {
      throw new PlugboardError("REFUSED_BY_POLICY", "a viewer changes nothing", {
        hint: "sign in as the owner: plugboard ui",
      });
    }
    return found.run(body);
  }
}

function method<Input>(shape: z.ZodType<Input>, run: (input: Input) => Promise<object>): Method {
  return {
    async run(body) {
      const read = shape.safeParse(body);
      if (read.success) return run(read.data);
      throw new PlugboardError("INVALID_ARGUMENTS", "the request is not as expected", {
        hint: oneLine(z.prettifyError(read.error), LONGEST_NAME),
      });
    },
  };
}
