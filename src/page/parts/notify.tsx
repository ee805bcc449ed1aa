// Tells you about calls that wait for you while you look at something else, if you have said that the browser may.

import { effect, signal } from "@preact/signals";
import type { VNode } from "preact";
import { visible } from "../../util/visible.ts";
import { linkTo } from "../route.ts";
import { waiting } from "../store.ts";

const WANTED = "plugboard-ui-notify";
const MOST_LETTERS = 100;

const isOn = signal(isSupported() && mayNotify() && localStorage.getItem(WANTED) !== null);
/** What has been told about, so that each call is told once. */
const told = new Set<string>();

function isSupported(): boolean {
  return "Notification" in globalThis;
}

function mayNotify(): boolean {
  return Notification.permission === "granted";
}

effect(() => {
  const fresh = waiting.value.filter(({ id }) => !told.has(id));
  for (const { id } of fresh) told.add(id);
  const [first] = fresh;
  if (first === undefined || !isOn.value || !document.hidden) return;
  const more = fresh.length > 1 ? ` and ${fresh.length - 1} more` : "";
  const title = `${shown(first.tool)}${more} waits for your word`;
  // The arguments stay in the page: a notification is seen by whoever sees the screen.
  const note = new Notification(title, { body: `asked by ${shown(first.caller)}`, tag: first.id });
  note.addEventListener("click", () => {
    note.close();
    focus();
    location.hash = linkTo("approvals");
  });
});

function shown(text: string): string {
  return visible(text.slice(0, MOST_LETTERS));
}

/** Asks the browser only when it is pressed. */
export function NotifyButton(): VNode | null {
  if (!isSupported()) return null;
  const toggle = async (): Promise<void> => {
    if (isOn.value) {
      localStorage.removeItem(WANTED);
      isOn.value = false;
      return;
    }
    if ((await Notification.requestPermission()) !== "granted") {
      refused.value = true;
      return;
    }
    localStorage.setItem(WANTED, "1");
    isOn.value = true;
  };
  return (
    <p>
      <button type="button" aria-pressed={isOn.value} onClick={() => void toggle()}>
        Notify me when a call waits
      </button>{" "}
      {refused.value && !isOn.value && (
        <span role="alert" class="quiet">
          Your browser does not allow it for this page; its settings can.
        </span>
      )}
    </p>
  );
}

const refused = signal(false);
