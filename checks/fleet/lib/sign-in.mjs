// A server that needs a sign-in, and its provider: the ones of the tests, which check what real ones check. Refresh tokens rotate, and
// one that is used twice takes everything back that came of the same consent.

import { spawn } from "node:child_process";
import { once } from "node:events";
import "../../../scripts/sources.mjs";
import { BIN } from "../../lib/run-gateway.mjs";

const SIGN_IN_MS = 120_000;

export async function startProvider(options = {}) {
  const { startOAuth } = await import("../../../test/fixtures/oauth/oauth.ts");
  return startOAuth(options);
}

/** Signs the whole fleet in, with a command beside its first gateway. */
export async function signIn({ env }, { gateways }, server, provider) {
  const [{ config, home }] = gateways;
  const child = spawn(
    process.execPath,
    [BIN, "--config", config, "login", server, "--no-browser"],
    {
      env: { ...env, ...gateways[0].env },
      cwd: home,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: SIGN_IN_MS,
    },
  );
  let said = "";
  const visits = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
      const [, url] = /^ +(http\S+)\n/m.exec(said) ?? [];
      if (url !== undefined && visits.length === 0) {
        visits.push(provider.approve(url, { visit: true }));
      }
    });
  }
  const [code] = await once(child, "close");
  await Promise.all(visits);
  if (code !== 0) throw new Error(`the sign-in failed:\n${said}`);
}

/** Resolves to what the tool says, or to what went wrong. */
export async function callTool({ host, port }, token, name, args, headers = {}) {
  try {
    const response = await fetch(`http://${host}:${port}/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    const body = await response.text();
    const line = body.split("\n").find((each) => each.startsWith("data:")) ?? body;
    if (!response.ok) return `HTTP ${response.status}: ${body.slice(0, 200)}`;
    const { result, error } = JSON.parse(line.replace(/^data:/, ""));
    return error?.message ?? result.content[0].text;
  } catch (error) {
    return `${error.message}: ${error.cause?.message ?? ""}`;
  }
}
