// What to run where somebody has to sign in to a server.

export function signInHint(server: string): string {
  return `run: plugboard login ${/^[\w.-]+$/.test(server) ? server : JSON.stringify(server)}`;
}
