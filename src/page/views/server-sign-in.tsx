// Signing in to a server, whose own page opens in the browser, and out of it.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { ask, GatewayError } from "../gateway.ts";
import { Act } from "../parts/act.tsx";
import { Problem } from "../parts/change.tsx";

export function SignIn({ agent, server }: { agent: string; server: string }): VNode {
  const page = useSignal<string | GatewayError | undefined>(undefined);
  const begin = async (): Promise<void> => {
    page.value = await ask("servers/signIn", { agent, server }).then(
      ({ url }) => url,
      (error: unknown) => error as GatewayError,
    );
  };
  return (
    <>
      <button type="button" onClick={() => void begin()}>
        Sign in…
      </button>
      <Act method="servers/signOut" body={{ agent, server }}>
        Sign out of it
      </Act>
      {page.value instanceof GatewayError && <Problem error={page.value} />}
      {typeof page.value === "string" && (
        <a href={page.value} target="_blank" rel="noopener noreferrer">
          Open its sign-in page
        </a>
      )}
    </>
  );
}
