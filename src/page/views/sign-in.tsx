// What somebody sees who is not signed in.

import { signal } from "@preact/signals";
import type { VNode } from "preact";

/** Why the link did not work, if one was used. */
export const signInProblem = signal<string | undefined>(undefined);

export function SignIn(): VNode {
  return (
    <main id="main" class="alone">
      <h1>Plugboard</h1>
      {signInProblem.value && <p role="alert">Sorry, {signInProblem.value}.</p>}
      <p>You are not signed in. Open the page with a new link, on the machine of the gateway:</p>
      <pre>
        <code>plugboard ui</code>
      </pre>
    </main>
  );
}
