// A model that says what a script tells it to: an HTTP server on loopback that speaks OpenAI's chat and
// responses APIs, Anthropic's messages API and Google's generateContent, whole or streamed.

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { AddressInfo } from "node:net" */
/** @import { Api, Json } from "./api.d.mts" */
/** @import { ApiName, Model, ModelOptions, ModelRequest, TurnError } from "./start.mjs" */

import { once } from "node:events";
import { createServer } from "node:http";
import { answerTo } from "./answer-to.mjs";
import { chatApi } from "./chat/api.mjs";
import { openAiFailure } from "./failure.mjs";
import { googleApi, readPath } from "./google/api.mjs";
import { messagesApi } from "./messages/api.mjs";
import { toModelList } from "./model-list.mjs";
import { responsesApi } from "./responses/api.mjs";
import { Script } from "./script.mjs";

const HOST = "127.0.0.1";

/**
 * @param {ModelOptions} options
 * @returns {Promise<Model>}
 */
export async function startModel({
  turns,
  port = 0,
  apiKey,
  models = ["scripted"],
  now = Date.now,
}) {
  /** @type {ModelRequest[]} */
  const requests = [];
  const desk = { script: new Script(turns), requests, now };
  /** @type {Map<string | undefined, { name: ApiName, api: Api }>} */
  const apis = new Map([
    ["/v1/chat/completions", { name: "chat", api: chatApi() }],
    ["/v1/responses", { name: "responses", api: responsesApi() }],
    ["/v1/messages", { name: "messages", api: messagesApi() }],
  ]);

  /** @type {{ name: ApiName, api: Api }} */
  const google = { name: "google", api: googleApi() };

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  const handle = async (request, response) => {
    const path = request.url?.split("?")[0];
    const named = readPath(path ?? "");
    const known = named === undefined ? apis.get(path) : google;
    const failure = known?.api.failure ?? openAiFailure;
    /** @param {TurnError} error */
    const refuse = (error) => reply(response, error.status, failure(error));
    if (apiKey !== undefined && !hasKey(request, apiKey)) {
      return refuse({ status: 401, message: "the API key is missing or wrong" });
    }
    const isList = path === "/v1/models";
    if (known === undefined && !isList) return refuse({ status: 404, message: `no ${path} here` });
    if (request.method !== (isList ? "GET" : "POST")) {
      return refuse({ status: 405, message: `${path} does not take ${request.method}` });
    }
    if (known === undefined) return reply(response, 200, toModelList(models, now()));
    await answerTo(request, response, { ...known, ...desk, named });
  };

  /** @type {Set<Promise<void>>} */
  const open = new Set();
  const server = createServer((request, response) => {
    /** @type {Promise<void>} */
    const gone = new Promise((resolve) => {
      response.once("close", () => {
        open.delete(gone);
        resolve();
      });
    });
    open.add(gone);
    handle(request, response).catch((error) => response.destroy(error));
  });
  server.listen(port, HOST);
  await once(server, "listening");
  const address = /** @type {AddressInfo} */ (server.address());

  /** @type {Promise<unknown> | undefined} */
  let closed;
  const close = async () => {
    if (closed === undefined) {
      closed = once(server, "close");
      server.close();
      server.closeAllConnections();
    }
    await closed;
    // A server is closed before its sockets have said so.
    await Promise.all(open);
  };
  return { url: `http://${HOST}:${address.port}`, requests, close, [Symbol.asyncDispose]: close };
}

/**
 * @param {IncomingMessage} request
 * @param {string} apiKey
 */
function hasKey({ headers }, apiKey) {
  const given = [headers["x-api-key"], headers["x-goog-api-key"]];
  return headers.authorization === `Bearer ${apiKey}` || given.includes(apiKey);
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {Json} body
 */
function reply(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
