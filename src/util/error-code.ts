// Tells errors of the system apart by their code.

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

export function hasErrorCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(errorCode(error) ?? "");
}
