export function pieces(text: string): string[];
export function writes(bytes: Buffer): Buffer[];
