// Signing in to a server, whose own page opens in the browser, and out of it.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { StateKind } from "../../serve/gateway/page/wire.ts";
import { ask } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { Problem, useAttempt } from "../parts/attempt.tsx";

interface SignInProps {
  agent: string;
  server: string;
  state: StateKind;
}

export function SignIn({ agent, server, state }: SignInProps): VNode {
  /** For as long as the server is in the state in which it was asked for. */
  const page = useSignal<{ url: string; state: StateKind } | undefined>(undefined);
  const { isBusy, problem, run } = useAttempt();
  const begin = (): Promise<void> =>
    run(async () => {
      const { url } = await ask("servers/signIn", { agent, server });
      page.value = { url, state };
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
      {page.value?.state === state && (
        <a href={page.value.url} target="_blank" rel="noopener noreferrer">
          Open its sign-in page
        </a>
      )}
    </>
  );
}
