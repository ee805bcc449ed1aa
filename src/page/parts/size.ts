// Sizes as people say them.

/** `512 B`, `1.4 kB`, `3 MB` */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, shown] = bytes < 1e6 ? ["kB", bytes / 1e3] : ["MB", bytes / 1e6];
  return `${shown < 10 ? shown.toFixed(1) : Math.round(shown)} ${unit}`;
}
