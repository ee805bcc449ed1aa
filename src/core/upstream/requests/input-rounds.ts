// In 2026-07-28 a server asks the client for input in the result of a call. The answers go back with the same
// call, made again under another id.

import { PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";

/** A tool that never stops asking is not served for ever. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 32;

/** Answers one request of the server; undefined if its method is not supported. */
export type AnswerInput = (method: string, params: unknown) => Promise<JsonObject> | undefined;

/** `call` gets what to add to its parameters. */
export async function callInRounds(
  call: (extra: JsonObject | undefined) => Promise<unknown>,
  answer: AnswerInput,
): Promise<unknown> {
  let extra: JsonObject | undefined;
  for (let round = 0; round <= MAX_ROUNDS; round += 1) {
    const result = await call(extra);
    if (!isJsonObject(result) || result.resultType !== "input_required") return result;
    extra = await respond(result, answer);
  }
  throw new PlugboardError("PROTOCOL", `the tool asks for input more than ${MAX_ROUNDS} times`, {
    quote: "",
  });
}

/** Which capability a question needs. */
const NEEDED: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** For questions that go to the caller: throws if the server may not ask one of them. */
export function requirePermitted(result: unknown, permitted: JsonObject): void {
  if (!isJsonObject(result) || result.resultType !== "input_required") return;
  for (const [, request] of questionsOf(result)) {
    const method = isJsonObject(request) ? request.method : undefined;
    const needed = typeof method === "string" && Object.hasOwn(NEEDED, method) && NEEDED[method];
    if (!needed || permitted[needed] === undefined) throw nobodyCan(method);
  }
}

function questionsOf({ inputRequests }: JsonObject): [string, unknown][] {
  const asked = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (asked.length <= MAX_QUESTIONS) return asked;
  const message = `the tool asks for ${asked.length} inputs at once`;
  throw new PlugboardError("PROTOCOL", message, { quote: "" });
}

function nobodyCan(method: unknown): PlugboardError {
  const quote = typeof method === "string" ? oneLine(method, 60) : "";
  const what = quote === "" ? "nothing that can be named" : quote;
  const message = `the tool asks for input (${what}) that nobody can give here`;
  return new PlugboardError("UNSUPPORTED", message, { quote });
}

async function respond(result: JsonObject, answer: AnswerInput): Promise<JsonObject> {
  const { requestState } = result;
  const inputResponses: JsonObject = Object.create(null);
  // One after the other, because a person answers one question at a time.
  for (const [key, request] of questionsOf(result)) {
    const method = isJsonObject(request) ? request.method : undefined;
    const response =
      typeof method === "string"
        ? answer(method, isJsonObject(request) ? request.params : undefined)
        : undefined;
    if (response === undefined) throw nobodyCan(method);
    inputResponses[key] = await response;
  }
  // Absent is not the same as empty: the server gets back exactly what it sent.
  return { inputResponses, requestState };
}
