// Colours for words, or none.

export type Tone = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export type Paint = (tone: Tone, text: string) => string;

const CODES: Readonly<Record<Tone, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export function painter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (tone, text) => {
    const [on, off] = CODES[tone];
    return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
  };
}
