// The page's requests without a browser: signs in with a link, and asks as the page does.

import {
  type ApiFailure,
  FILE_NAME_HEADER,
  type PageRequests,
  type UploadFacts,
} from "../../src/serve/gateway/page/wire.ts";

export interface PageApi {
  ask<Name extends keyof PageRequests>(
    method: Name,
    body: PageRequests[Name]["takes"],
  ): Promise<PageRequests[Name]["gives"] & Partial<ApiFailure>>;
  /** Of the last answer to `ask`. */
  readonly status: number;
  upload(name: string, bytes: Buffer): Promise<UploadFacts & Partial<ApiFailure>>;
}

export async function enterPage(link: string): Promise<PageApi> {
  const { origin, hash } = new URL(link);
  const headers = { origin, "content-type": "application/json" };
  const post = (name: string, body: object, more: Record<string, string>): Promise<Response> =>
    fetch(`${origin}/ui/api/${name}`, {
      method: "POST",
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
  const reply = await post("enter", { key: hash.slice("#k=".length) }, { "x-plugboard": "1" });
  const { secret } = (await reply.json()) as { secret: string };
  const [cookie = ""] = (reply.headers.get("set-cookie") ?? "").split(";");
  let status = 0;
  return {
    get status() {
      return status;
    },
    ask: async (name, body) => {
      const answer = await post(name, body, { "x-plugboard": secret, cookie });
      ({ status } = answer);
      return (await answer.json()) as never;
    },
    upload: async (name, bytes) => {
      const answer = await fetch(`${origin}/ui/api/add/upload`, {
        method: "POST",
        headers: { origin, "x-plugboard": secret, cookie, [FILE_NAME_HEADER]: name },
        body: new Uint8Array(bytes),
      });
      return (await answer.json()) as never;
    },
  };
}
