// What the pages have elsewhere, on this machine. https://example.com/mcp is a server that answers everybody, and so is
// every other address of example.com, except for two: at https://team.example.com/mcp you have to sign in, and at
// https://models.example.com there is a model, which looks up how to install Plugboard, whatever it is asked.

import type { IncomingMessage, ServerResponse } from "node:http";
import { typedName } from "../../src/cli/typed/typed-name.ts";
import { type OAuthFixture, startOAuth } from "../fixtures/oauth/oauth.ts";
import { Listener } from "../fixtures/http/listener.ts";
import { type Model, type ModelRequest, startModel, type Turn } from "../support/model/start.mjs";

const EXAMPLE = /https:\/\/(?:[\w-]+\.)*example\.(?:com|org)(?:\/[\w./-]*)?/g;

const USUAL = "https://example.com/mcp";

const PAGES: Readonly<Record<string, string>> = {
  install: "Run npm install -g plugboard.",
  servers: "A server is one entry of the configuration.",
};

const TOOLS = [
  {
    name: "search",
    description: "Searches the documentation.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", description: "What to look for." } },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: "read",
    description: "Reads a page of the documentation.",
    inputSchema: {
      type: "object",
      properties: { page: { type: "string", description: "The name of the page." } },
      required: ["page"],
    },
    annotations: { readOnlyHint: true },
  },
];

const METHODS: Readonly<Record<string, (params: Record<string, unknown>) => object>> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    serverInfo: { name: "docs", version: "1.0.0" },
    capabilities: { tools: {}, resources: {}, prompts: {} },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: given }) => {
    const { query = "", page = "" } = (given ?? {}) as { query?: string; page?: string };
    const found = Object.entries(PAGES).filter(([, text]) => text.includes(query));
    const text =
      name === "read"
        ? (PAGES[page] ?? `There is no page ${page}.`)
        : found.map(([title, words]) => `${title}: ${words}`).join("\n") || "Nothing was found.";
    return { content: [{ type: "text", text }] };
  },
  "resources/list": () => ({
    resources: Object.keys(PAGES).map((name) => ({
      uri: `docs:///${name}`,
      name,
      mimeType: "text/plain",
    })),
  }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({
    contents: [{ uri, text: PAGES[String(uri).replace("docs:///", "")] ?? "" }],
  }),
  "prompts/list": () => ({
    prompts: [
      {
        name: "explain",
        description: "Explains a page.",
        arguments: [{ name: "page", required: true }],
      },
    ],
  }),
  "prompts/get": ({ arguments: given }) => ({
    messages: [
      {
        role: "user",
        content: {
          type: "text",
          text: `Explain the page ${String((given as { page?: string })?.page)}.`,
        },
      },
    ],
  }),
};

export class Remote {
  readonly #listener = new Listener(answer);
  /** By what the pages call them. */
  readonly #addresses = new Map<string, string>();
  readonly #withSignIn: OAuthFixture;
  readonly #model: Model;

  private constructor(withSignIn: OAuthFixture, model: Model) {
    this.#withSignIn = withSignIn;
    this.#model = model;
    this.#addresses.set("https://models.example.com/v1", `${model.url}/v1`);
    this.#addresses.set("https://team.example.com/mcp", withSignIn.url);
    this.#addresses.set("https://login.example.com", withSignIn.issuer);
  }

  static async start(): Promise<Remote> {
    const withSignIn = await startOAuth({ mcp: { sessions: false } });
    const remote = new Remote(withSignIn, await startModel({ turns: looksItUp }));
    await remote.#listener.listen();
    return remote;
  }

  /** With addresses that can be reached. They are as long as those of the page, so that tables stay straight. */
  toReal(text: string): string {
    return text.replace(EXAMPLE, (shown) => {
      const known = this.#addresses.get(shown);
      if (known !== undefined) return known;
      // No path at all makes the usual one as long as it is shown.
      const path = shown === USUAL ? "" : String(this.#addresses.size + 1);
      const real = `${this.#listener.origin}/${path}`.padEnd(shown.length, "x");
      this.#addresses.set(shown, real);
      return real;
    });
  }

  toShown(text: string): string {
    const longestFirst = [...this.#addresses].toSorted(([, a], [, b]) => b.length - a.length);
    return longestFirst.reduce(
      (result, [shown, real]) =>
        result.replaceAll(real, shown).replaceAll(nameOf(real), nameOf(shown)),
      text,
    );
  }

  async close(): Promise<void> {
    await this.#withSignIn.close();
    await this.#model.close();
    await this.#listener.close();
  }
}

function looksItUp({ tools, toolResults }: ModelRequest): Turn {
  const search = tools.find(({ name }) => name.endsWith("docs__search"));
  return toolResults.length > 0 || search === undefined
    ? { text: "Run npm install -g plugboard." }
    : { toolCalls: [{ name: search.name, arguments: { query: "npm" } }] };
}

/** What a server is called that is typed as this address. */
function nameOf(url: string): string {
  return typedName({ url }, "/");
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (request.method !== "POST" || request.url?.startsWith("/.well-known") === true) {
    response.writeHead(request.method === "GET" ? 405 : 404).end();
    return;
  }
  const message = JSON.parse(Buffer.concat(chunks).toString("utf8")) as {
    id?: number;
    method: string;
    params?: Record<string, unknown>;
  };
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const method = METHODS[message.method];
  const body =
    method === undefined
      ? { error: { code: -32601, message: `Method not found: ${message.method}` } }
      : { result: method(message.params ?? {}) };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...body }));
}
