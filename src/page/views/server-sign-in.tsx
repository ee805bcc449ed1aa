// Signing in to a server, whose own page opens in the browser, and out of it.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { ask } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { Problem, useAttempt } from "../parts/attempt.tsx";

export function SignIn({ agent, server }: { agent: string; server: string }): VNode {
  const page = useSignal<string | undefined>(undefined);
  const { isBusy, problem, run } = useAttempt();
  const begin = (): Promise<void> =>
    run(async () => {
      page.value = (await ask("servers/signIn", { agent, server })).url;
    });
  return (
    <>
      <button type="button" aria-disabled={isBusy.value} onClick={() => void begin()}>
        Sign in…
      </button>
      <Act method="servers/signOut" body={{ agent, server }}>
        Sign out of it
      </Act>
      {problem.value && <Problem error={problem.value} />}
      {page.value !== undefined && (
        <a href={page.value} target="_blank" rel="noopener noreferrer">
          Open its sign-in page
        </a>
      )}
    </>
  );
}
