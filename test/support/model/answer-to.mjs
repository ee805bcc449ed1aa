// One request from its body to the last byte of its answer.

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { Answer, Api } from "./api.d.mts" */
/** @import { Script } from "./script.mjs" */
/** @import { Named } from "./request.mjs" */
/** @import { ApiName, ModelRequest, Turn, TurnError } from "./start.mjs" */

import { text } from "node:stream/consumers";
import { BadRequest } from "./bad-request.mjs";
import { check } from "./check.mjs";
import { toRequest } from "./request.mjs";
import { toAnswer } from "./script.mjs";
import { pause, send, toChunks, toEvent } from "./send.mjs";

/** A client that tried again would hear the same. */
const FINAL = { "x-should-retry": "false" };

/**
 * @param {IncomingMessage} incoming
 * @param {ServerResponse} response
 * @param {{ name: ApiName, api: Api, script: Script, requests: ModelRequest[], now: () => number, named: Named | undefined }} desk
 */
export async function answerTo(incoming, response, { name, api, script, requests, now, named }) {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  /** @param {TurnError} error @param {Record<string, string>} headers */
  const fail = (error, headers = {}) => {
    response.writeHead(error.status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(api.failure(error)));
  };

  const body = await text(incoming);
  /** @type {{ turn: Turn, index: number } | undefined} */
  let next;
  /** @type {ModelRequest} */
  let request;
  try {
    const read = toRequest(body, incoming.headers, { name, api, named });
    request = read.request;
    requests.push(request);
    watch(response, request);
    check(read.conversation, api);
    next = await script.next(request);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof BadRequest) return fail({ status: 400, message });
    return fail({ status: 500, message: `the script failed: ${message}` }, FINAL);
  }
  if (next === undefined) return fail({ status: 500, message: "the script has ended" }, FINAL);

  const { turn, index } = next;
  await pause(turn.delayMs ?? 0, gone.signal);
  if (gone.signal.aborted) return;
  const { error } = turn;
  if (error !== undefined && error.after === undefined) {
    /** @type {Record<string, string>} */
    const wait = error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) };
    return fail(error, wait);
  }
  const answer = toAnswer(turn, request, { index, now: now() });
  const chunks = request.stream ? toEvents(api, answer, error) : toChunks(api.whole(answer));
  response.writeHead(200, {
    "content-type": request.stream ? "text/event-stream; charset=utf-8" : "application/json",
    "cache-control": "no-cache",
  });
  await send(response, chunks, turn, gone.signal);
}

/**
 * @param {Api} api
 * @param {Answer} answer
 * @param {TurnError | undefined} error
 */
function toEvents(api, answer, error) {
  const frames = api.frames(answer);
  if (error === undefined) return frames.map(toEvent);
  return [...frames.slice(0, error.after), api.failureFrame(error)].map(toEvent);
}

/**
 * @param {ServerResponse} response
 * @param {ModelRequest} request
 */
function watch(response, request) {
  response.once("close", () => {
    request.outcome = response.writableFinished ? "answered" : "dropped";
  });
}
