// The script: which turn comes next, and a turn with everything filled in.

/** @import { Answer } from "./api.d.mts" */
/** @import { ModelOptions, ModelRequest, Turn, TurnMaker } from "./start.mjs" */

const KEYS = new Set([
  "text",
  "thinking",
  "toolCalls",
  "finish",
  "error",
  "delayMs",
  "chunkDelayMs",
  "until",
  "cut",
  "endAfter",
  "usage",
]);

export class Script {
  /** @type {ModelOptions["turns"]} */
  #turns;
  #given = 0;

  /** @param {ModelOptions["turns"]} turns */
  constructor(turns) {
    this.#turns = turns;
    if (typeof turns === "function") return;
    for (const turn of turns) if (typeof turn !== "function") check(turn);
  }

  /**
   * Nothing when the script has ended; rejects where a turn's function throws.
   * @param {ModelRequest} request
   * @returns {Promise<{ turn: Turn, index: number } | undefined>}
   */
  async next(request) {
    const index = this.#given++;
    /** @type {Turn | TurnMaker | undefined} */
    const given = typeof this.#turns === "function" ? this.#turns : this.#turns[index];
    const turn = typeof given === "function" ? await given(request, index) : given;
    return turn && { turn: check(turn), index };
  }
}

/**
 * @param {Turn} turn
 * @param {ModelRequest} request
 * @param {{ index: number, now: number }} context
 * @returns {Answer}
 */
export function toAnswer(turn, request, { index, now }) {
  const { text = "", thinking = "" } = turn;
  const toolCalls = (turn.toolCalls ?? []).map((call, position) => ({
    id: call.id ?? `call_${index}_${position}`,
    name: call.name,
    arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
  }));
  const said = text + toolCalls.map((call) => call.name + call.arguments).join("");
  const reasoning = tokens(thinking);
  return {
    serial: String(index),
    created: Math.floor(now / 1000),
    model: request.model,
    text,
    thinking,
    toolCalls,
    finish: turn.finish ?? (toolCalls.length > 0 ? "tools" : "stop"),
    usage: {
      input: tokens(JSON.stringify(request.body)),
      output: tokens(said) + reasoning,
      cached: 0,
      reasoning,
      ...turn.usage,
    },
    body: request.body,
  };
}

/** @param {string} text */
function tokens(text) {
  return Math.ceil(text.length / 4);
}

/**
 * A misspelt key would be an empty answer, and nobody would know why.
 * @param {Turn} turn
 */
function check(turn) {
  const unknown = Object.keys(turn).find((key) => !KEYS.has(key));
  if (unknown !== undefined) {
    throw new TypeError(`a turn has no '${unknown}', only ${[...KEYS].join(", ")}`);
  }
  return turn;
}
