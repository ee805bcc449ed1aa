// Keeps the page's stream of events open: applies events once a frame, says when the gateway is gone, and comes back.

import type { Snapshot } from "../serve/gateway/page/wire.ts";
import { GatewayError, home, type PageEvent, type Place, readEvents, settle } from "./gateway.ts";
import { apply, gateway, gateways, gone, stream } from "./store.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
/** A page that nobody looks at is drawn this often. */
const HIDDEN_MS = 1000;
/** What waits for the next frame, before it is applied at once. */
const MOST_QUEUED = 2000;

let following = new AbortController();

/** Ends the stream, for somebody who has signed out. */
export function stopFollowing(): void {
  following.abort();
}

/** Begins anew if it is called again. */
export function follow(): void {
  following.abort();
  following = new AbortController();
  const { signal } = following;
  const queue: PageEvent[] = [];
  let isPlanned = false;
  const flush = (): void => {
    isPlanned = false;
    apply(queue.splice(0));
  };
  const onEvent = (event: PageEvent): void => {
    queue.push(event);
    if (queue.length > MOST_QUEUED) flush();
    if (isPlanned) return;
    isPlanned = true;
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  };
  void keepOpen(onEvent, signal);
}

async function keepOpen(onEvent: (event: PageEvent) => void, signal: AbortSignal): Promise<void> {
  const place: Place = {};
  let wait = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const left = new AbortController();
    let at = home.value;
    // Somebody wants to look at another gateway, or a request has found that this one is gone.
    const off = home.subscribe((wanted) => wanted !== at && left.abort());
    try {
      const onOpen = (): void => {
        wait = FIRST_WAIT_MS;
        stream.value = "live";
      };
      const onAny = (event: PageEvent): void => {
        if (event.name === "snapshot") {
          at = event.is.gateway.home;
          arrive(event.is);
        }
        onEvent(event);
      };
      await readEvents(place, onOpen, onAny, AbortSignal.any([signal, left.signal]));
    } catch (error) {
      if (error instanceof GatewayError && error.code === "NOT_SIGNED_IN") {
        stream.value = "signed-out";
        return;
      }
    } finally {
      off();
    }
    if (signal.aborted) return;
    if (left.signal.aborted) continue;
    stream.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}

/** Says so if it is not the gateway that this tab has looked at. */
function arrive({ gateway: { home: answering, replica } }: Snapshot): void {
  const wanted = home.value ?? gateway.value?.home;
  if (replica !== undefined && wanted !== undefined && wanted !== answering) {
    gone.value = gateways.value.find((each) => each.home === wanted)?.name ?? "";
  }
  settle(answering);
}

/** Looks at another gateway from now on. */
export function lookAt(other: string): void {
  gone.value = undefined;
  stream.value = "connecting";
  home.value = other;
}
