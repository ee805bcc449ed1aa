import { hostname } from "node:os";
import { expect, it, onTestFinished, vi } from "vitest";
import type { PendingApproval } from "../../../../src/core/types/shared-state.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { describeWithEngines, openReplica as open } from "../../../support/engines.ts";

const SOON = { timeout: 20_000, interval: 20 };
const LATER = Date.now() + 100 * 365 * 24 * 60 * 60 * 1000;
const GRANT = { tokens: { access_token: "a-secret-token" } };

describeWithEngines("changes that replicas tell each other", (engines) => {
  it("replicas know of each other: how they are reached, what they run with, and when one leaves", async () => {
    const settings = await engines().newSettings();
    const own = { ...settings, replica: { url: "http://10.0.0.1:7777" } };
    const [one, two] = [await open(own), await open(settings)];
    const command = await open(settings, { isReplica: false });
    let changes = 0;
    onTestFinished(two.replicas!.onChange(() => (changes += 1)));
    one.replicas!.announce("some text");
    two.replicas!.announce("some text");
    const told = { name: "http://10.0.0.1:7777", url: "http://10.0.0.1:7777" };
    await vi.waitFor(() => {
      const [self, other] = two.replicas!.list();
      expect(other).toMatchObject({ ...told, configuration: self?.configuration });
      expect(self?.configuration).toMatch(/^[0-9a-f]{12}$/);
      expect(changes).toBeGreaterThan(0);
    }, SOON);
    two.replicas!.announce("another text");
    await vi.waitFor(() => {
      const [self, other] = one.replicas!.list();
      expect(other?.name).toBe(hostname());
      expect(other?.configuration).not.toBe(self?.configuration);
    }, SOON);
    // A hash that says nothing of the text: another fleet's is another one.
    const elsewhere = await open(await engines().newSettings());
    elsewhere.replicas!.announce("some text");
    expect(elsewhere.replicas!.own?.configuration).not.toBe(one.replicas!.own?.configuration);
    expect(command.replicas!.own).toBeUndefined();
    expect(command.replicas!.list()).toMatchObject([told, { name: hostname() }]);
    await one.close();
    await vi.waitFor(() => expect(two.replicas!.list()).toHaveLength(1), SOON);
  });

  it("a change whose notification was lost is noticed", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const { text } = await one.tokens.add({ name: "ci" });
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeDefined(), SOON);
    engines().sql(
      settings,
      "delete from plugboard_tokens; update plugboard_revisions set revision = revision + 1 where topic = 'tokens'",
    );
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeUndefined(), SOON);
  });

  it.each(["where topic = 'tokens'", ""])(
    "a change is heard of although somebody has removed what counts them %s",
    async (which) => {
      const settings = await engines().newSettings();
      const one = await open(settings);
      const two = await open(settings);
      const { text } = await one.tokens.add({ name: "ci" });
      await vi.waitFor(() => expect(two.tokens.find(text)).toBeDefined(), SOON);
      const sink = one.audit.open(() => {});
      onTestFinished(() => sink.close());
      engines().sql(settings, `delete from plugboard_revisions ${which}`);
      await sink.append(Buffer.from('{"type":"call","time":"2026-01-01T00:00:00.000Z"}\n'));
      await one.tokens.revoke("ci");
      for (const each of [one, two]) {
        await vi.waitFor(() => expect(each.tokens.find(text)).toBeUndefined(), SOON);
      }
      // And what changes from then on.
      const { text: later } = await one.tokens.add({ name: "later" });
      await vi.waitFor(() => expect(two.tokens.find(later)).toBeDefined(), SOON);
      expect(two.replicas?.list()).toHaveLength(2);
      const recorded = "select count(*) from plugboard_audit";
      await vi.waitFor(() => expect(engines().sql(settings, recorded)).toContain("1"), SOON);
    },
  );

  it("what somebody read of a change while PostgreSQL was away is read again once it is back", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    await one.grants.write("grant", "k", GRANT);
    const read: unknown[] = [];
    onTestFinished(
      one.changes.subscribe("grants", () => {
        void one.grants.read("grant", "k").then((grant) => read.push(grant));
      }),
    );
    const transaction = await engines().connect(settings);
    // Who reads now gets no answer, and goes on with what is known.
    await transaction.query("begin; lock table plugboard_grants; delete from plugboard_grants");
    engines().sql(
      settings,
      "update plugboard_revisions set revision = revision + 1 where topic = 'grants'",
    );
    await vi.waitFor(() => expect(read).toEqual([GRANT]), SOON);
    await transaction.query("commit");
    await vi.waitFor(() => expect(read.at(-1)).toBeUndefined(), SOON);
  });

  it("a sign-out is told of as soon as it is stored, also if who signs out can say nothing more", async () => {
    const settings = await engines().newSettings();
    const [one, two] = [await open(settings), await open(settings)];
    await one.grants.write("grant", "k", GRANT);
    let heard = 0;
    onTestFinished(two.changes.subscribe("grants", () => (heard += 1)));
    await one.grants.remove("grant", "k");
    await vi.waitFor(() => expect(heard).toBe(1), SOON);
  });

  it("a failover that loses changes is noticed also if they had not been read yet", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const { text } = await one.tokens.add({ name: "ci" });
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeDefined(), SOON);
    await one.sessions.revoke("before", LATER);
    const transaction = await engines().connect(settings);
    await transaction.query("begin; lock table plugboard_sessions");
    engines().sql(settings, "update plugboard_revisions set revision = 1000");
    await vi.waitFor(() => expect(one.health?.().away).not.toEqual([]), SOON);
    await transaction.query(
      `delete from plugboard_sessions;
        insert into plugboard_sessions values ('after', ${LATER}, true, null, 3);
        update plugboard_revisions set revision = 3; commit`,
    );
    await vi.waitFor(() => expect(one.sessions.isRevoked("after")).toBe(true), SOON);
    const two = await open(settings);
    await vi.waitFor(() => expect(two.sessions.isRevoked("before")).toBe(true), SOON);
  });

  it("whoever may connect to the database can tell of changes, and of nothing else", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const { text } = await one.tokens.add({ name: "ci" });
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeDefined(), SOON);
    engines().sql(settings, "drop role if exists stranger; create role stranger login");
    const stranger = { url: settings.postgres.url.replace("plugboard@", "stranger@") };
    const known = vi.spyOn(Map.prototype, "set");
    onTestFinished(() => known.mockRestore());
    engines().sql(
      { ...settings, postgres: stranger },
      `select pg_notify('plugboard', 'junk' || n || ' ' || n) from generate_series(1, 100) n;
        select pg_notify('plugboard', payload) from unnest(array['', ' ', 'tokens', 'tokens x', 'tokens -1',
          'tokens ' || repeat('9', 7000), repeat('x', 7990) || ' 1', 'tokens 9223372036854775807']) payload`,
    );
    // What is told of in vain is read, and does not hide what is told of next.
    await vi.waitFor(() => {
      expect(known.mock.calls.map(String)).toContain("tokens,9223372036854775807");
    }, SOON);
    expect(known.mock.calls.filter(([key]) => String(key).startsWith("junk"))).toEqual([]);
    await one.tokens.revoke("ci");
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeUndefined(), SOON);
  });

  it("a machine whose clock is ahead is known, and takes no question away", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const ahead = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const two = await open(settings, { clock: ahead });
    const question = {
      id: "q1",
      caller: { id: "token:default", label: "default" },
      agent: "default",
      request: {
        server: "docs",
        tool: "read",
        title: "read",
        arguments: {},
        hash: "h",
      } as unknown as PendingApproval["request"],
      argsHash: "a",
      createdAt: Date.now(),
      expiresAt: Date.now() + 600_000,
    };
    expect(one.replicas?.clockAhead).toBe(0);
    expect(two.replicas?.clockAhead).toBeGreaterThan(3_500_000);
    await one.pending.put(question);
    await two.pending.list();
    expect(engines().sql(settings, "select id from plugboard_waiting")).toBe("q1");
  });

  it("changes are noticed after a failover that has lost the last ones", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    const { text } = await one.tokens.add({ name: "ci" });
    const other = await one.tokens.add({ name: "other" });
    await one.sessions.revoke("before", LATER);
    await vi.waitFor(() => expect(one.tokens.find(other.text)).toBeDefined(), SOON);
    await vi.waitFor(
      () => expect(engines().sql(settings, "select nonce from plugboard_sessions")).toBe("before"),
      SOON,
    );
    const ahead = "update plugboard_revisions set revision = revision + 100";
    engines().sql(settings, `delete from plugboard_tokens where name = 'other'; ${ahead}`);
    await vi.waitFor(() => expect(one.tokens.find(other.text)).toBeUndefined(), SOON);
    // As it was some time ago, and one change since.
    engines().sql(
      settings,
      `delete from plugboard_sessions; delete from plugboard_tokens;
        insert into plugboard_sessions values ('after', ${LATER}, true, null, 3);
        update plugboard_revisions set revision = 3`,
    );
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeUndefined(), SOON);
    await vi.waitFor(() => expect(one.sessions.isRevoked("after")).toBe(true), SOON);
    // What this replica knows of ended sessions is there again.
    const two = await open(settings);
    await vi.waitFor(() => expect(two.sessions.isRevoked("before")).toBe(true), SOON);
  });
});
