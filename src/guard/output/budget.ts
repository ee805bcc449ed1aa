// How much work one answer may cause. Size alone does not bound it: two branches that each look at the
// same child again double the work with every level, so every step of a check is paid for.

export interface Budget {
  refill: () => void;
  /** Throws when there is nothing left. */
  spend: (steps: number) => void;
}

export function createBudget(limit: number): Budget {
  let left = limit;
  return {
    refill: () => {
      left = limit;
    },
    spend: (steps) => {
      left -= steps;
      if (left < 0) throw new RangeError("the budget of steps is spent");
    },
  };
}
