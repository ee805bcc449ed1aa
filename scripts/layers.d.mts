export function findProblems(src: string): string[];
