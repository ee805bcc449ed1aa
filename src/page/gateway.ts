// How the page talks to its gateway: requests, and the one stream of events.

import { signal as newSignal } from "@preact/signals";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import {
  API_HEADER,
  type ApiFailure,
  FILE_NAME_HEADER,
  GATEWAY_GONE,
  HOME_HEADER,
  type CallAnswer,
  type PageCallEvents,
  type PageEvents,
  type PageRequests,
  type UploadFacts,
  type WayIn,
} from "../serve/gateway/page/wire.ts";

/** Sent in addition to the cookie: this secret belongs to one origin, while a browser sends a cookie to every port of the host. */
const SECRET = "plugboard-ui";

/** Where another tab, and this one when it is loaded again, finds the gateway to look at. */
const HOME = "plugboard-home";

/**
 * The gateway that this tab looks at, where several share a state: whichever gets a request passes it on. Undefined if any
 * will do.
 */
export const home = newSignal<string | undefined>(localStorage.getItem(HOME) ?? undefined);

/** The gateway that answers has said what it is called. */
export function settle(answering: string | undefined): void {
  home.value = answering;
  if (answering === undefined) localStorage.removeItem(HOME);
  else localStorage.setItem(HOME, answering);
}

function headers(at = home.value): Record<string, string> {
  return {
    [API_HEADER]: localStorage.getItem(SECRET) ?? "1",
    ...(at !== undefined && { [HOME_HEADER]: at }),
  };
}

/** A request that the gateway has refused, or that did not reach it. */
export class GatewayError extends Error {
  readonly code: string;
  readonly hint: string | undefined;

  constructor({ code, message, hint }: ApiFailure["error"]) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Rejects with a GatewayError. */
export async function ask<Name extends keyof PageRequests>(
  method: Name,
  body: PageRequests[Name]["takes"],
): Promise<PageRequests[Name]["gives"]> {
  const reply = await post(method, body);
  return (await reply.json()) as PageRequests[Name]["gives"];
}

/** Sends a file, whole and as it is. Rejects with a GatewayError. */
export async function upload(file: File): Promise<UploadFacts> {
  const reply = await send("add/upload", {
    method: "POST",
    headers: {
      ...headers(),
      [FILE_NAME_HEADER]: encodeURIComponent(file.name),
      "content-type": "application/octet-stream",
    },
    body: file,
  });
  return (await reply.json()) as UploadFacts;
}

/** Signs in with the key of a link. Rejects with a GatewayError. */
export async function enter(key: string): Promise<void> {
  const reply = await post("enter", { key });
  const { secret } = (await reply.json()) as { secret: string };
  localStorage.setItem(SECRET, secret);
}

/** Signs in with what the provider has sent the browser back with. Rejects with a GatewayError. */
export async function enterFromProvider(answer: {
  code: string;
  state: string;
  iss?: string;
}): Promise<void> {
  const reply = await post("sign-in", answer);
  const { secret } = (await reply.json()) as { secret: string };
  localStorage.setItem(SECRET, secret);
}

/** Rejects with a GatewayError. */
export async function wayIn(): Promise<WayIn> {
  const reply = await post("way-in", {});
  return (await reply.json()) as WayIn;
}

export async function leave(): Promise<void> {
  await post("leave", {});
  localStorage.removeItem(SECRET);
}

export type PageCallEvent = {
  [Name in keyof PageCallEvents]: { name: Name; is: PageCallEvents[Name] };
}[keyof PageCallEvents];

/** Calls a tool. Aborting cancels the call. Rejects with a GatewayError if nothing was called. */
export async function callTool(
  body: { agent: string; tool: string; args: object },
  onEvent: (event: PageCallEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const reply = await post("tools/call", body, { signal });
  let hasEnded = false;
  await readStream(reply, ({ event, data }) => {
    hasEnded ||= event === "result";
    onEvent({ name: event, is: JSON.parse(data) as object } as PageCallEvent);
  });
  if (!hasEnded) throw brokenOff(signal.aborted);
}

/** Answers what the server of a call asks that runs at this gateway. Rejects with a GatewayError. */
export async function answerCall(answer: CallAnswer, at: string | undefined): Promise<void> {
  await post("tools/answer", answer, { at });
}

function brokenOff(isCancelled: boolean): GatewayError {
  const message = isCancelled ? "You cancelled the call" : "The gateway went away during the call";
  return new GatewayError({ code: "CANCELLED", message, hint: "It may have taken effect." });
}

function post(
  method: string,
  body: object,
  { signal, at }: { signal?: AbortSignal; at?: string | undefined } = {},
): Promise<Response> {
  return send(method, {
    method: "POST",
    headers: { ...headers(at), "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

async function send(method: string, options: RequestInit): Promise<Response> {
  const reply = await fetch(`api/${method}`, options).catch(() => undefined);
  if (reply === undefined) throw unreachable();
  if (reply.ok) return reply;
  const failure = (await reply.json().catch(() => undefined)) as ApiFailure | undefined;
  if (failure?.error === undefined) throw unreachable();
  const at = new Headers(options.headers).get(HOME_HEADER);
  // Whoever answers next is the one to look at.
  if (failure.error.code === GATEWAY_GONE && at === home.value) home.value = undefined;
  throw new GatewayError(failure.error);
}

function unreachable(): GatewayError {
  return new GatewayError({ code: "NETWORK", message: "the gateway does not answer" });
}

export type PageEvent = {
  [Name in keyof PageEvents]: { name: Name; is: PageEvents[Name] };
}[keyof PageEvents];

/** Where a stream was broken off, so that the next one goes on from there. */
export interface Place {
  id?: string;
}

/** Reads events until the stream ends. Rejects with a GatewayError if there is none. */
export async function readEvents(
  place: Place,
  onOpen: () => void,
  onEvent: (event: PageEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  const from: Record<string, string> = place.id === undefined ? {} : { "last-event-id": place.id };
  const reply = await send("events", { headers: { ...headers(), ...from }, signal });
  onOpen();
  await readStream(reply, ({ id, event, data }) => {
    if (id !== undefined) place.id = id;
    const value = JSON.parse(data) as object;
    // A snapshot is the value itself; other events say when they happened, too.
    const is = "is" in value ? value.is : value;
    onEvent({ name: event, is } as PageEvent);
  });
}

async function readStream(
  reply: Response,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      parser.feed(chunk.value);
    }
  } catch {
    // A stream that breaks off has ended.
  }
}
