// What somebody sees who is not signed in.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { wayIn } from "../gateway.ts";
import { Foreign } from "../parts/foreign.tsx";

/** Why the link did not work, if one was used. */
export const signInProblem = signal<string | undefined>(undefined);

const provider = signal<string | undefined>(undefined);

export function SignIn(): VNode {
  useEffect(() => {
    void wayIn().then(
      (way) => {
        provider.value = way.provider;
      },
      // Without a provider, only a link lets people in.
      () => {},
    );
  }, []);
  return (
    <main id="main" class="alone">
      <h1>Plugboard</h1>
      {signInProblem.value && (
        <p role="alert">
          Sorry, <Foreign text={signInProblem.value} most={300} />.
        </p>
      )}
      {provider.value && (
        <p>
          <a class="button" href="sign-in">
            Sign in with {provider.value}
          </a>
        </p>
      )}
      <p>
        {provider.value
          ? "Or open the page with a new link, on the machine of the gateway:"
          : "You are not signed in. Open the page with a new link, on the machine of the gateway:"}
      </p>
      <pre>
        <code>plugboard ui</code>
      </pre>
    </main>
  );
}
