// Environment variables as an argument: `process.env`, or what a test gives instead.

export type Environment = Readonly<Record<string, string | undefined>>;

/** In the environment of every process of a server: it names the host that has started the server (docs/processes.md). */
export const COOKIE_VARIABLE = "PLUGBOARD_COOKIE";
