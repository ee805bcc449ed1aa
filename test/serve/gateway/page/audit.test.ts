// The searches of the audit: who waits for whose.

import { expect, it } from "vitest";
import type { AuditTrail } from "../../../../src/core/types/shared-state.ts";
import { AuditSearch } from "../../../../src/serve/gateway/page/audit.ts";
import { deferred } from "../../../../src/util/deferred.ts";

it("of all that a viewer searches for, only the latest waits, and an owner waits for no more", async () => {
  const begun = deferred();
  const reads: number[] = [];
  const trail: Pick<AuditTrail, "where" | "read"> = {
    where: "audit.jsonl",
    // oxlint-disable-next-line require-yield -- it has no lines
    async *read({ last = 0 }) {
      reads.push(last);
      await begun.promise;
    },
  };
  const search = new AuditSearch({
    trails: async () => [trail as AuditTrail],
    calls: { find: () => undefined },
  });
  const find = (most: number, role: "owner" | "viewer", nonce: string) =>
    search.find({ from: 0, most }, { role, nonce }).then(
      () => "found",
      ({ code }: { code: string }) => code,
    );
  const first = find(1, "viewer", "hasty");
  await expect.poll(() => reads).toEqual([1]);
  const others = [2, 3, 4].map((most) => find(most, "viewer", "hasty"));
  const another = find(5, "viewer", "another");
  const owners = [6, 7].map((most) => find(most, "owner", "owner"));
  begun.resolve();
  expect(await Promise.all([first, ...others, another, ...owners])).toEqual([
    "found",
    "RATE_LIMITED",
    "RATE_LIMITED",
    "found",
    "found",
    "found",
    "found",
  ]);
  expect(reads).toEqual([1, 4, 5, 6, 7]);
});
