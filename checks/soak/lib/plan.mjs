// When something is killed, restarted or reloaded: spread evenly over the calls, the restarts among the kills.

/**
 * `[{ after, what }]` in order: after so many answers, `"kill"` the server or `"restart"` the gateway. With `reloads`,
 * there is nothing but `"reload"`.
 */
export function plan({ calls, kills, restarts, reloads = 0 }) {
  if (reloads > 0) return spread(calls, reloads, () => "reload");
  const total = kills + restarts;
  const isRestart = (index) =>
    Math.floor(((index + 1) * restarts) / total) > Math.floor((index * restarts) / total);
  return spread(calls, total, (index) => (isRestart(index) ? "restart" : "kill"));
}

function spread(calls, total, what) {
  return Array.from({ length: total }, (_, index) => ({
    after: Math.round(((index + 1) * calls) / (total + 1)),
    what: what(index),
  }));
}
