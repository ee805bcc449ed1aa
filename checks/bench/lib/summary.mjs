// From samples to rows: medians per contender, and how each stands to the best peer and to the limit.

import { installed } from "../contenders.mjs";
import { median, medians, percentile } from "./stats.mjs";

/**
 * One row per entry of `compare`. A ratio is above 1 where the contender's figure is the larger one;
 * the one to the best peer is the least favourable of those to each peer.
 */
export function summarise(scenario, entries, runtime) {
  const { metric, better, limit } = scenario;
  const rows = entries.map((entry) => toRow(entry, metric, runtime));
  const measured = rows.filter((row) => row.figures !== undefined);
  const peers = measured.filter((row) => row.kind === "peer");
  const limitRow = measured.find((row) => row.name === limit);
  const worst = better === "lower" ? Math.max : Math.min;
  for (const row of measured) {
    const ratios = peers.map((peer) => ratioOf(row, peer, metric));
    if (ratios.length > 0) row.toBestPeer = worst(...ratios);
    if (limitRow !== undefined) row.toLimit = ratioOf(row, limitRow, metric);
  }
  return rows;
}

/**
 * The median of the ratios round by round: what slows a whole round down cancels out. A contender that
 * was too slow for a second round is compared by the rounds it has.
 */
function ratioOf(row, other, metric) {
  const rounds = Math.min(row.samples.length, other.samples.length);
  return median(
    row.samples.slice(0, rounds).map((sample, i) => sample[metric] / other.samples[i][metric]),
  );
}

function toRow({ contender, samples, failure }, metric, runtime) {
  const { name, kind, label } = contender;
  const { version, node } = installed(contender);
  const needsNode = isOlder(runtime.version, node) ? node : undefined;
  const row = { name, kind, label, version, needsNode, samples, failure };
  if (failure !== undefined || samples.length === 0) return row;
  const values = samples.map((sample) => sample[metric]);
  return {
    ...row,
    figures: medians(samples),
    spread: [percentile(values, 0.25), percentile(values, 0.75)],
  };
}

/** Is `version` below what a package asks for? Peers ask by `>=major` or not at all. */
function isOlder(version, asked = "") {
  const major = /^>=\s*(\d+)/.exec(asked)?.[1];
  return major !== undefined && Number(version.split(".")[0]) < Number(major);
}
