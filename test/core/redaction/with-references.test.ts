import { describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { withReferences } from "../../../src/core/redaction/with-references.ts";

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

describe("credentials become references", () => {
  it.each<[string, ServerConfig, ServerConfig, string[]]>([
    [
      "a variable keeps its name",
      { command: "x", env: { GITHUB_TOKEN: TOKEN, MODE: "fast" } },
      { command: "x", env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", MODE: "fast" } },
      ["GITHUB_TOKEN"],
    ],
    [
      "a header keeps its scheme",
      { url: "https://a.example", headers: { Authorization: `Bearer ${TOKEN}`, "X-Team": "blue" } },
      {
        url: "https://a.example",
        headers: { Authorization: "Bearer ${GIT_HUB_TOKEN}", "X-Team": "blue" },
      },
      ["GIT_HUB_TOKEN"],
    ],
    [
      "an option keeps its name",
      { command: "x", args: [`--api-key=${TOKEN}`, "--token", TOKEN, "-v"] },
      { command: "x", args: ["--api-key=${GIT_HUB_API_KEY}", "--token", "${GIT_HUB_TOKEN}", "-v"] },
      ["GIT_HUB_API_KEY", "GIT_HUB_TOKEN"],
    ],
    [
      "a URL keeps all but the secret parts",
      { url: `https://me:${TOKEN}@a.example/mcp?api_key=${TOKEN}&x=1` },
      {
        url: "https://me:${GIT_HUB_URL_SECRET}@a.example/mcp?api_key=${GIT_HUB_URL_SECRET}&x=1",
      },
      ["GIT_HUB_URL_SECRET"],
    ],
    [
      "a token of its own",
      { url: "https://a.example", auth: { type: "bearer", token: TOKEN } },
      { url: "https://a.example", auth: { type: "bearer", token: "${GIT_HUB_TOKEN}" } },
      ["GIT_HUB_TOKEN"],
    ],
    [
      "a client's secret",
      { url: "https://a.example", oauth: { clientId: "me", clientSecret: TOKEN } },
      {
        url: "https://a.example",
        oauth: { clientId: "me", clientSecret: "${GIT_HUB_CLIENT_SECRET}" },
      },
      ["GIT_HUB_CLIENT_SECRET"],
    ],
    [
      "a token that is known by its form alone",
      { command: "x", args: [`ghp_${"a1".repeat(18)}`] },
      { command: "x", args: ["${GIT_HUB_SECRET}"] },
      ["GIT_HUB_SECRET"],
    ],
    [
      "a password beside a reference, which stays one",
      { command: "x", env: { DB: "a://u:hunter2@${HOST}/b", API_KEY: "k-${KEY}" } },
      { command: "x", env: { DB: "a://u:${DB}@${HOST}/b", API_KEY: "k-${KEY}" } },
      ["DB"],
    ],
    [
      "what is a reference stays one",
      { command: "x", env: { API_KEY: "${OTHER}" } },
      { command: "x", env: { API_KEY: "${OTHER}" } },
      [],
    ],
  ])("%s", (_, server, expected, variables) => {
    expect(withReferences("git-hub", server, new Map())).toEqual({ server: expected, variables });
  });

  it("what looks like a key in a URL is one too, where it is asked for", () => {
    const key = "x7KpQ2mW9sLr4TvZ3bNc";
    const url = `https://a.example/T0/${key}/x?code=${key}&page=a-long-name-of-a-page#top`;
    const found = (inPath: boolean): unknown =>
      withReferences("a", { url, command: "x", args: [url] }, new Map(), { inPath }).server;
    const hidden =
      "https://a.example/T0/${A_URL_SECRET}/x?code=${A_URL_SECRET}&page=a-long-name-of-a-page#top";
    expect(found(true)).toMatchObject({ url: hidden });
    expect(found(false)).toMatchObject({ url, args: [url] });
  });

  it("and one name never stands for two values", () => {
    const known = new Map<string, string>();
    const refer = (name: string, value: string): unknown =>
      withReferences(name, { command: "x", env: { API_KEY: value } }, known).server.env;
    expect(refer("a", TOKEN)).toEqual({ API_KEY: "${API_KEY}" });
    expect(refer("b", TOKEN)).toEqual({ API_KEY: "${API_KEY}" });
    expect(refer("c", `${TOKEN}2`)).toEqual({ API_KEY: "${C_API_KEY}" });
    expect(refer("c", `${TOKEN}3`)).toEqual({ API_KEY: "${C_API_KEY_2}" });
  });
});
