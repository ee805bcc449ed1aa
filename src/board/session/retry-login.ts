// A server that was refused for who is calling, tried again when somebody has signed in to it elsewhere since.

import type { Slot } from "../slot.ts";

/** Once for each login: what was refused is not tried again. Resolves when the attempt has ended; does not reject. */
export async function retryLogin({
  supervisor,
  signIn,
}: Pick<Slot, "supervisor" | "signIn">): Promise<void> {
  if (supervisor.state.kind !== "needs-auth" || !(await signIn?.hasNews())) return;
  await supervisor.start();
}
