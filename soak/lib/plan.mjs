// When something is killed or restarted: spread evenly over the calls, the restarts among the kills.

/** `[{ after, what }]` in order: after so many answers, `"kill"` the server or `"restart"` the gateway. */
export function plan({ calls, kills, restarts }) {
  const total = kills + restarts;
  const isRestart = (index) =>
    Math.floor(((index + 1) * restarts) / total) > Math.floor((index * restarts) / total);
  return Array.from({ length: total }, (_, index) => ({
    after: Math.round(((index + 1) * calls) / (total + 1)),
    what: isRestart(index) ? "restart" : "kill",
  }));
}
