// Where the page begins: signs in with the key of its link, follows the gateway, and draws.

import { render } from "preact";
import { App } from "./app.tsx";
import { enter, enterFromProvider, GatewayError } from "./gateway.ts";
import { follow } from "./stream.ts";
import { hasKey, takeAnswer, takeKey } from "./route.ts";
import { stream } from "./store.ts";
import { signInProblem } from "./views/sign-in.tsx";

async function begin(): Promise<void> {
  const key = takeKey();
  const answer = takeAnswer();
  signInProblem.value = undefined;
  try {
    if (key !== undefined) await enter(key);
    if (answer !== undefined) await enterWith(answer);
  } catch (error) {
    if (error instanceof GatewayError) signInProblem.value = error.message;
  }
  stream.value = "connecting";
  follow();
}

/** What went wrong at the provider is not repeated: anybody can write it into an address. */
async function enterWith(answer: URLSearchParams): Promise<void> {
  const [code, state, iss] = [answer.get("code"), answer.get("state"), answer.get("iss")];
  if (code !== null && state !== null) {
    return enterFromProvider({ code, state, ...(iss !== null && { iss }) });
  }
  signInProblem.value = "your provider did not sign you in";
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
