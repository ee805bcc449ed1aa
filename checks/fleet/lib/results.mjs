// What a part found: a claim with its figure, its goal, and whether it is met.

export function atLeast(claim, figure, goal) {
  return { claim, figure: round(figure), goal: `at least ${goal}`, isMet: figure >= goal };
}

export function atMost(claim, figure, goal) {
  return { claim, figure: round(figure), goal: `at most ${goal}`, isMet: figure <= goal };
}

export function exactly(claim, figure, goal) {
  return { claim, figure: String(figure), goal: String(goal), isMet: figure === goal };
}

/** `because` says what they were. */
export function none(claim, count, because = "") {
  const figure = because === "" ? String(count) : `${count} (${because})`;
  return { claim, figure, goal: "0", isMet: count === 0 };
}

function round(figure) {
  return String(Number(figure.toFixed(figure < 10 ? 2 : 0)));
}
