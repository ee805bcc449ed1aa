// In 2026-07-28 a server asks the client for input in the result of a call. The answers go back with the same
// call, made again under another id.

import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";

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

async function respond(result: JsonObject, answer: AnswerInput): Promise<JsonObject> {
  const { inputRequests, requestState } = result;
  const asked = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (asked.length > MAX_QUESTIONS) {
    throw new PlugboardError("PROTOCOL", `the tool asks for ${asked.length} inputs at once`, {
      quote: "",
    });
  }
  const inputResponses: JsonObject = Object.create(null);
  // One after the other, because a person answers one question at a time.
  for (const [key, request] of asked) {
    const method = isJsonObject(request) ? request.method : undefined;
    const response =
      typeof method === "string"
        ? answer(method, isJsonObject(request) ? request.params : undefined)
        : undefined;
    if (response === undefined) {
      const quote = typeof method === "string" ? oneLine(method, 60) : "";
      const what = quote === "" ? "nothing that can be named" : quote;
      const message = `the tool asks for input (${what}) that nobody can give here`;
      throw new PlugboardError("UNSUPPORTED", message, { quote });
    }
    inputResponses[key] = await response;
  }
  // Absent is not the same as empty: the server gets back exactly what it sent.
  return { inputResponses, ...(requestState !== undefined && { requestState }) };
}
