// Asking for the version is answered before anything else is loaded.

const FLAGS: ReadonlySet<string | undefined> = new Set(["--version", "-v", "-V"]);

export function isVersionFlag(argument: string | undefined): boolean {
  return FLAGS.has(argument);
}
