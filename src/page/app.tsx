// The frame around every view: where you can go, whether the gateway is there, and the view itself.

import { computed, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { GatewayError, leave } from "./gateway.ts";
import { follow, stopFollowing } from "./stream.ts";
import { RunningElsewhere } from "./parts/running.tsx";
import { linkTo, route } from "./route.ts";
import {
  calls,
  changes,
  gateway,
  gone,
  isOwner,
  lostPins,
  people,
  servers,
  stream,
  waiting,
  you,
} from "./store.ts";
import { Add } from "./views/add.tsx";
import { Activity } from "./views/activity.tsx";
import { Approvals } from "./views/approvals.tsx";
import { Audit } from "./views/audit.tsx";
import { Call } from "./views/call.tsx";
import { Clients } from "./views/clients.tsx";
import { Overview } from "./views/overview.tsx";
import { Pins } from "./views/pins.tsx";
import { Secrets } from "./views/secrets.tsx";
import { Server } from "./views/server.tsx";
import { Servers } from "./views/servers.tsx";
import { SignIn } from "./views/sign-in.tsx";
import { ToolView } from "./views/tool.tsx";
import { Tools } from "./views/tools.tsx";

interface View {
  name: string;
  title: string;
  draw: (id: string | undefined) => VNode;
  /** How many things there are; `isUrgent` says that they wait for you. */
  count?: () => number;
  isUrgent?: boolean;
  /** Viewers have no link to it. */
  isForOwners?: boolean;
}

const VIEWS: readonly View[] = [
  { name: "", title: "Overview", draw: () => <Overview /> },
  {
    name: "approvals",
    title: "Approvals",
    draw: () => <Approvals />,
    count: () => waiting.value.length,
    isUrgent: true,
  },
  {
    name: "pins",
    title: "Pins",
    draw: () => <Pins />,
    count: () => changes.value.length + lostPins.value.length,
    isUrgent: true,
  },
  {
    name: "servers",
    title: "Servers",
    draw: (id) => (id === undefined ? <Servers /> : <Server key={id} id={id} />),
    count: () => servers.value.size,
  },
  { name: "add", title: "Add a server", draw: () => <Add />, isForOwners: true },
  {
    name: "tools",
    title: "Tools",
    draw: (id) => (id === undefined ? <Tools /> : <ToolView key={id} id={id} />),
  },
  {
    name: "activity",
    title: "Activity",
    draw: (id) => (id === undefined ? <Activity /> : <Call key={id} id={id} />),
    count: () => calls.value.filter(({ ms }) => ms === undefined).length,
  },
  { name: "audit", title: "Audit", draw: () => <Audit /> },
  { name: "secrets", title: "Secrets", draw: () => <Secrets />, isForOwners: true },
  {
    name: "clients",
    title: "Clients",
    draw: () => <Clients />,
    count: () => people.value.sessions.length + people.value.commands.length,
  },
];

const current = computed(() => VIEWS.find(({ name }) => name === route.value.view) ?? VIEWS[0]);

const signOutProblem = signal<string | undefined>(undefined);

export function App(): VNode {
  const here = useRef<HTMLAnchorElement>(null);
  const view = current.value;
  // On a narrow screen the links are one line that is longer than the screen.
  useEffect(() => here.current?.scrollIntoView({ block: "nearest", inline: "nearest" }), [view]);
  if (stream.value === "signed-out") return <SignIn />;
  const title = view?.title ?? "";
  document.title = `${waiting.value.length > 0 ? `(${waiting.value.length}) ` : ""}${title} · Plugboard`;
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the view
      </a>
      <header>
        <strong>Plugboard</strong>
        <GatewayState />
        {you.value && (
          <span class="you">
            {you.value.name}
            {signOutProblem.value && <span role="alert">{signOutProblem.value}</span>}
            <button type="button" class="plain" onClick={() => void signOut()}>
              Sign out
            </button>
          </span>
        )}
      </header>
      <Moved />
      <RunningElsewhere />
      <nav aria-label="Views">
        <ul>
          {VIEWS.filter(mayUse).map(({ name, title: label, count, isUrgent }) => (
            <li key={name}>
              <a
                href={linkTo(name)}
                ref={view?.name === name ? here : undefined}
                aria-current={view?.name === name ? "page" : undefined}
              >
                {label}
                <Count of={count?.() ?? 0} isUrgent={isUrgent} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" tabIndex={-1}>
        {gateway.value === undefined ? (
          <p class="notice">Asking the gateway…</p>
        ) : (
          view?.draw(route.value.id)
        )}
      </main>
    </>
  );
}

function mayUse({ isForOwners = false }: View): boolean {
  return isOwner.value || !isForOwners;
}

function Count({ of, isUrgent }: { of: number; isUrgent?: boolean }): VNode | null {
  return of === 0 ? null : <span class={isUrgent ? "count urgent" : "count"}>{of}</span>;
}

function GatewayState(): VNode {
  const isLive = stream.value === "live";
  const text = isLive
    ? (gateway.value?.state ?? "serving")
    : stream.value === "lost"
      ? "The gateway does not answer. What you see may be old. Trying again…"
      : "connecting…";
  return <output class={isLive ? "line" : "line lost"}>{text}</output>;
}

/** What you see is another gateway's than before. */
function Moved(): VNode | null {
  if (gone.value === undefined) return null;
  const before = gone.value === "" ? "The gateway that you looked at" : gone.value;
  return (
    <p class="notice" role="status">
      {before} is gone. You now look at {gateway.value?.replica ?? "another gateway"}.{" "}
      <button
        type="button"
        class="plain"
        onClick={() => {
          gone.value = undefined;
        }}
      >
        OK
      </button>
    </p>
  );
}

/** The fragment is the view, so the browser cannot jump by itself. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}

async function signOut(): Promise<void> {
  // It would say that nobody is signed in before the gateway has answered: who goes on then, breaks the answer off and
  // keeps the cookie.
  stopFollowing();
  try {
    await leave();
  } catch (error) {
    signOutProblem.value = error instanceof GatewayError ? error.message : String(error);
    follow();
    return;
  }
  stream.value = "signed-out";
}
