// What a command on any machine asks the gateways that share a state: whether each is ready, and the status of one of them.
// Without keys, whoever can write to PostgreSQL can list an address, so no token goes there. A request is signed as one that a
// gateway forwards: it is good at that address alone, and once.

import { request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { DEFAULT_TOKEN_CALLER } from "../../../core/types/caller.ts";
import { DEFAULT_TOKEN } from "../../../core/types/shared-state.ts";
import type { Clock } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { HeldBytes } from "../../../util/held-bytes.ts";
import { oneLine, plainText } from "../../../util/text.ts";
import { bodyHash } from "../../endpoint/http/elsewhere.ts";
import { FORWARD_HEADER, type Signatures } from "./signature.ts";

/** How long a gateway may take for its whole answer. */
const ANSWER_MS = 3000;
const MOST_BYTES = 32 * 1024 * 1024;
const LONGEST_REASON = 200;
const STATUS = { method: "GET", path: "/api/status", headers: {} };
/** The status is for the owner, so it is asked for as by the default token. Where that was revoked, a gateway refuses it. */
const OWNER = { caller: { id: DEFAULT_TOKEN_CALLER, label: DEFAULT_TOKEN } };

/** `unknown`: nobody could ask it, and why. */
export type Readiness =
  | { state: "ready" | "degraded" | "stopping" }
  | { state: "unknown"; reason: string };

interface Answer {
  status: number;
  text: string;
  /** Why the gateway does not believe the signature. */
  refused?: string;
}

interface Asking {
  clock: Clock;
  signal: AbortSignal;
}

/** Never rejects. */
export async function askReadiness(url: string, asking: Asking): Promise<Readiness> {
  try {
    const { status, text } = await get(url, "/readyz", {}, asking);
    const [said = ""] = text.split("\n");
    if (status === 200 && said === "ready") return { state: "ready" };
    if (status === 200 && said === "ready, degraded") return { state: "degraded" };
    if (status === 503 && said === "stopping") return { state: "stopping" };
    return { state: "unknown", reason: `it answers with HTTP ${status}, and not as a gateway` };
  } catch (error) {
    return { state: "unknown", reason: oneLine(errorMessage(error), LONGEST_REASON) };
  }
}

/** The answer as JSON, without anything that a terminal would obey. Rejects if the gateway does not answer. */
export async function askStatus(
  url: string,
  signatures: Pick<Signatures, "sign">,
  asking: Asking,
): Promise<unknown> {
  const signed = signatures.sign(STATUS, url, OWNER, bodyHash([]));
  const { status, text, refused } = await get(
    url,
    STATUS.path,
    { [FORWARD_HEADER]: signed },
    asking,
  );
  if (status !== 200) {
    const why = refused ?? text;
    throw new Error(`it answers with HTTP ${status}: ${oneLine(why, LONGEST_REASON)}`);
  }
  return JSON.parse(text, (_key, value: unknown) =>
    typeof value === "string" ? plainText(value) : value,
  );
}

function get(
  url: string,
  path: string,
  headers: Record<string, string>,
  { clock, signal }: Asking,
): Promise<Answer> {
  const request = new URL(url).protocol === "https:" ? requestTls : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url), { method: "GET", path, headers, signal, agent: false });
    const late = clock.after(ANSWER_MS, () => sent.destroy(new Error("it takes too long")));
    const over = (settle: () => void): void => {
      late.cancel();
      settle();
    };
    sent.on("error", (error) => over(() => reject(error)));
    sent.once("response", (answer) => {
      const held = new HeldBytes();
      answer.on("data", (chunk: Buffer) => {
        held.push(chunk);
        if (held.length > MOST_BYTES) sent.destroy(new Error("its answer is too large"));
      });
      answer.on("error", (error) => over(() => reject(error)));
      answer.once("end", () => {
        const { statusCode: status = 0, headers: said } = answer;
        const refused = said[FORWARD_HEADER];
        const text = held.take();
        over(() =>
          resolve({ status, text, ...(refused !== undefined && { refused: String(refused) }) }),
        );
      });
    });
    sent.end();
  });
}
