// How an entry would change, line by line.

/** With `+`, `-` or nothing before each line. */
export async function diffLines(
  before: readonly string[],
  after: readonly string[],
): Promise<string[]> {
  const { diffArrays } = await import("diff");
  return diffArrays([...before], [...after]).flatMap(({ value, added, removed }) =>
    value.map((line) => `${added ? "+" : removed ? "-" : " "} ${line}`),
  );
}
