// Keeps the page's stream of events open: applies events once a frame, says when the gateway is gone, and comes back.

import { GatewayError, type PageEvent, type Place, readEvents } from "./gateway.ts";
import { apply, stream } from "./store.ts";

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
    try {
      const onOpen = (): void => {
        wait = FIRST_WAIT_MS;
        stream.value = "live";
      };
      await readEvents(place, onOpen, onEvent, signal);
    } catch (error) {
      if (error instanceof GatewayError && error.code === "NOT_SIGNED_IN") {
        stream.value = "signed-out";
        return;
      }
    }
    if (signal.aborted) return;
    stream.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }
}
