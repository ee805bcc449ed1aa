// Environment variables as an argument: `process.env`, or what a test gives instead.

export type Environment = Readonly<Record<string, string | undefined>>;

/** The name of a variable for something that people name freely: `github-token` becomes `GITHUB_TOKEN`. */
export function variableName(text: string): string {
  const name = text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

/** In the environment of every process of a server: it names the host that has started the server (docs/processes.md). */
export const COOKIE_VARIABLE = "PLUGBOARD_COOKIE";

/** What the session program is started with: the token of its session, and the socket of the front. */
export const SESSION_TOKEN = "PLUGBOARD_SESSION_TOKEN";
export const SESSION_SOCKET = "PLUGBOARD_SESSION_SOCKET";
