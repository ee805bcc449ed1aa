// Environment variables as an argument: `process.env`, or what a test gives instead.

export type Environment = Readonly<Record<string, string | undefined>>;
