// Where the page begins: signs in with the key of its link, follows the gateway, and draws.

import { render } from "preact";
import { App } from "./app.tsx";
import { enter, GatewayError } from "./gateway.ts";
import { follow } from "./line.ts";
import { hasKey, takeKey } from "./route.ts";
import { line } from "./store.ts";
import { signInProblem } from "./views/sign-in.tsx";

async function begin(): Promise<void> {
  const key = takeKey();
  signInProblem.value = undefined;
  if (key !== undefined) {
    await enter(key).catch((error: unknown) => {
      if (error instanceof GatewayError) signInProblem.value = error.message;
    });
  }
  line.value = "connecting";
  follow();
}

// Somebody may put a new link into the address bar of a page that is open.
addEventListener("hashchange", () => {
  if (hasKey()) void begin();
});

const root = document.querySelector("#page");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
void begin();
