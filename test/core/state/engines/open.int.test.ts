import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { AuditLine } from "../../../../src/core/types/audit-entry.ts";
import type { PendingApproval, SharedState } from "../../../../src/core/types/shared-state.ts";
import { openEngineState } from "../../../../src/core/state/engines/open.ts";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { describeWithEngines, openReplica as open, replicaRow } from "../../../support/engines.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { testSharedState } from "../shared-state-contract.ts";

const SOON = { timeout: 20_000, interval: 20 };
const LATER = Date.now() + 100 * 365 * 24 * 60 * 60 * 1000;
const ALWAYS = { agent: "default", tool: "docs/read", hash: "h", at: 1 };
const GRANT = { tokens: { access_token: "a-secret-token" } };

describeWithEngines("on one PostgreSQL and one Valkey", (engines) => {
  testSharedState(async ([one, two]) => {
    const settings = await engines().newSettings();
    const each = (clock: Clock): Promise<SharedState> =>
      openEngineState({ settings, stateDir: temporaryDirectory(), isReplica: true, clock });
    return Promise.all([each(one), each(two)]);
  });

  it("while PostgreSQL is away, what is known holds, nothing recorded is lost, and it heals by itself", async () => {
    const settings = await engines().newSettings();
    let moved = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + moved };
    const [one, two] = [await open(settings, { clock }), await open(settings)];
    const { text } = await one.tokens.add({ name: "ci" });
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeDefined(), SOON);
    await one.grants.write("grant", "k", GRANT);
    const approval = { agent: "main", tool: "docs/read", hash: "h", at: 1 };
    await one.approvals.add(approval);
    const sink = one.audit.open(() => {});
    onTestFinished(() => sink.close());
    await sink.append(lineOf(1));

    await engines().postgres.kill();
    onTestFinished(async () => {
      if (one.health?.().away.length) await engines().postgres.start();
    });
    await vi.waitFor(() => expect(one.health?.().away).toHaveLength(1), SOON);
    expect(one.health?.().away[0]?.message).toMatch(
      /^PostgreSQL at 127\.0\.0\.1:\d+\/test\d+ cannot be reached: /,
    );
    expect(one.tokens.find(text)).toMatchObject({ name: "ci" });
    expect(await one.grants.read("grant", "k")).toEqual(GRANT);
    await expect(one.grants.withLease("k", async () => {})).rejects.toMatchObject({
      code: "NETWORK",
    });
    // The person is asked again.
    expect(await one.approvals.has(approval)).toBe(false);
    await expect(one.tokens.add({ name: "other" })).rejects.toMatchObject({ code: "NETWORK" });
    await one.sessions.revoke("n", LATER);
    expect(one.sessions.isRevoked("n")).toBe(true);
    for (let at = 2; at <= 700; at += 1) await sink.append(lineOf(at));
    const now = lineOf(701);
    await sink.appendNow(now, now.length);
    expect(await one.limits.take([{ key: "a", perMinute: 10 }], 0)).toBeUndefined();
    moved = settings.maxStale + 60_000;
    expect(one.tokens.find(text)).toBeUndefined();

    await engines().postgres.start();
    await vi.waitFor(() => expect(one.health?.().away).toEqual([]), SOON);
    await vi.waitFor(() => expect(one.tokens.find(text)).toBeDefined(), SOON);
    await vi.waitFor(() => expect(two.sessions.isRevoked("n")).toBe(true), SOON);
    const numbers = Array.from({ length: 701 }, (_, at) => at + 1);
    await vi.waitFor(async () => expect(await bytesIn(two)).toEqual(numbers), SOON);
    expect(await two.approvals.has(approval)).toBe(true);
  });

  it("an approval counts on every machine, wherever it has the file of the configuration", async () => {
    const settings = await engines().newSettings();
    const [one, two] = [await open(settings), await open(settings)];
    await one.approvals.add({ ...ALWAYS, config: "/home/anna/plugboard.json" });
    const there = { ...ALWAYS, config: "/home/ben/plugboard.json" };
    expect(await two.approvals.has(there)).toBe(true);
    expect(await two.approvals.list()).toEqual([ALWAYS]);
    await two.approvals.forget([there]);
    expect(await one.approvals.list()).toEqual([]);
  });

  it("without keys, what somebody else has written into the tables is shown as what it is", async () => {
    const settings = { ...(await engines().newSettings()), keys: [] };
    const state = await open(settings);
    expect(state.replicas?.areAuthentic).toBe(false);
    const evil = "a\u{1b}[2J\nb";
    const request = { tool: "docs/read", hash: "h", reason: "", args: {}, hints: {} };
    const ask = (id: string): string => {
      const caller = { id: "token:ci", label: "ci" };
      const times = { createdAt: 1, expiresAt: LATER };
      const asked = { id, caller, agent: "main", request, argsHash: "a", ...times };
      return `insert into plugboard_waiting values ('${id}', 'other', '', $x$plain:${JSON.stringify(asked)}$x$, null, ${LATER});`;
    };
    engines().sql(
      settings,
      `${replicaRow(settings, { id: "other", name: evil, url: "file:///etc", configuration: evil })}
        ${ask("abcd2345")} ${ask(evil)}`,
    );
    await vi.waitFor(
      () => expect(state.replicas?.list()[1]).toEqual({ id: "other", name: "a b" }),
      SOON,
    );
    expect((await state.pending.list()).map(({ id }) => id)).toEqual(["abcd2345"]);
  });

  it("with keys, no row counts that somebody else has written, altered or put elsewhere", async () => {
    const settings = await engines().newSettings();
    const logger = recordingLogger();
    const state = await open(settings, { logger });
    const sql = (statement: string): string => engines().sql(settings, statement);
    const hasRead = async (): Promise<void> => {
      sql("update plugboard_revisions set revision = revision + 1");
      await state.replicas?.look();
    };

    // Tokens: one of somebody's own, and one that gets the rights of another.
    const own = `plug_${"a".repeat(43)}`;
    const token = { id: "evil", name: "evil", createdAt: 1, hash: hash("sha256", own) };
    const admin = await state.tokens.add({ name: "admin" });
    const limited = await state.tokens.add({ name: "ci", agents: ["research"] });
    const defaultText = await state.tokens.ensureDefault();
    const insertToken = (id: string, sealed: string): string =>
      sql(
        `insert into plugboard_tokens (id, name, sealed, created_at) values ('${id}', '${id}', ${sealed}, 1)`,
      );
    insertToken("evil", `$x$plain:${JSON.stringify({ token })}$x$`);
    insertToken("none", "null");
    insertToken("copy", "(select sealed from plugboard_tokens where name = 'admin')");
    await hasRead();
    expect(state.tokens.find(own)).toBeUndefined();
    expect((await state.tokens.list()).map(({ name }) => name)).toEqual(["default", "admin", "ci"]);
    sql(
      `update plugboard_tokens set sealed = (select sealed from plugboard_tokens where name = 'admin') where name = 'ci'`,
    );
    await hasRead();
    expect(state.tokens.find(limited.text)).toBeUndefined();
    expect(state.tokens.find(admin.text)).toMatchObject({ name: "admin" });
    expect(state.tokens.find(defaultText)).toMatchObject({ name: "default" });

    // Approvals that last.
    await state.approvals.add(ALWAYS);
    const other = { ...ALWAYS, tool: "docs/delete" };
    const keyOf = ({ tool }: typeof ALWAYS): string =>
      JSON.stringify(["default", "", tool, "h", ""]);
    const copied = "select approval from plugboard_approvals limit 1";
    for (const value of [`$x$plain:${JSON.stringify(other)}$x$`, `(${copied})`]) {
      sql(
        `insert into plugboard_approvals values ($x$${keyOf(other)}$x$, ${value}, 1)
          on conflict (key) do update set approval = excluded.approval`,
      );
      expect(await state.approvals.has(other)).toBe(false);
    }
    expect(await state.approvals.has(ALWAYS)).toBe(true);
    expect(await state.approvals.list()).toEqual([ALWAYS]);

    // Calls that wait: an answer of nobody, the answer to another, and other arguments than are asked about.
    const [first, second] = [question("first"), question("second")];
    await state.pending.put(first);
    await state.pending.put(second);
    sql(`update plugboard_waiting set answer = 'plain:"once"' where id = 'first'`);
    expect(await state.pending.answersTo([first])).toEqual(new Map());
    sql("update plugboard_waiting set answer = null");
    expect(await state.pending.answer(second, "once")).toBe(true);
    sql(
      `update plugboard_waiting set answer = (select answer from plugboard_waiting where id = 'second') where id = 'first'`,
    );
    expect(await state.pending.answersTo([first, second])).toEqual(new Map([["second", "once"]]));
    sql("update plugboard_waiting set answer = null");
    expect(await state.pending.list()).toEqual([first, second]);
    const harmless = { ...first, request: { ...first.request, args: { path: "notes.txt" } } };
    for (const value of [
      `$x$plain:${JSON.stringify(harmless)}$x$`,
      "(select question from plugboard_waiting where id = 'second')",
    ]) {
      sql(`update plugboard_waiting set question = ${value} where id = 'first'`);
      expect(await state.pending.list()).toEqual([second]);
    }

    // Pins: nobody pins what a server has become.
    const id = { server: "docs", key: "k" };
    const instructions = {
      kind: "pinned",
      firstSeen: 1,
      approved: { hash: "h", value: "", seen: 1 },
    };
    const pinned = { ...id, seenWith: [], tools: new Map(), instructions };
    await state.pins.update(id, () => pinned as never);
    expect(await state.pins.read(id)).toMatchObject({ kind: "pinned" });
    sql("update plugboard_pins set pins = 'plain:' || pins");
    expect(await state.pins.read(id)).toMatchObject({ kind: "lost", lost: { why: "unreadable" } });

    // Sign-outs, which are not sealed: none is undone where it was heard of, and none is for later than now.
    await state.tokens.signOut("ann");
    await hasRead();
    const annUntil = state.tokens.signedOutUntil("ann");
    expect(annUntil).toBeGreaterThan(0);
    sql("delete from plugboard_sign_outs");
    sql("insert into plugboard_sign_outs values ('ann', 1), ('bob', 9223372036854775807)");
    await hasRead();
    expect(state.tokens.signedOutUntil("ann")).toBe(annUntil);
    expect(state.tokens.signedOutUntil("bob")).toBeLessThanOrEqual(Date.now() + 30_000);

    // Each table is named once.
    const said = logger.lines.filter(({ message }) => message.includes("are ignored"));
    const tables = said.map(({ message }) => /plugboard_\w+/.exec(message)?.[0]);
    expect(tables).toHaveLength(4);
    expect(new Set(tables)).toEqual(
      new Set(["plugboard_approvals", "plugboard_pins", "plugboard_tokens", "plugboard_waiting"]),
    );
  });

  it("a gateway that somebody else lists is none, nor one that is put back later or under another name", async () => {
    const settings = await engines().newSettings();
    let now = Date.now();
    const clock: Clock = { ...systemClock, now: () => now };
    const url = "http://10.0.0.1:7777";
    const state = await open(settings, { clock });
    const member = await open({ ...settings, replica: { url } }, { clock });
    const { replicas } = state;
    const sql = (statement: string): string => engines().sql(settings, statement);
    const urls = () => replicas?.list().flatMap((each) => each.url ?? []);
    await vi.waitFor(() => expect(urls()).toEqual([url]), SOON);
    expect(replicas?.areAuthentic).toBe(true);
    expect(replicas?.hasUnsealed).toBe(false);
    const stored = sql(
      `select sealed from plugboard_replicas where id = '${member.replicas?.own?.id}'`,
    );
    await member.close();
    await vi.waitFor(() => expect(urls()).toEqual([]), SOON);

    const evil = { id: "evil", name: "http://evil", url: "http://evil" };
    const alive = "now() + interval '1 minute'";
    const attempts: Record<string, string> = {
      "not sealed": replicaRow({ keys: [] }, evil),
      "sealed with other keys": replicaRow({ keys: ["some other key of 32 characters."] }, evil),
      "nothing said": `insert into plugboard_replicas (id, seen) values ('evil', ${alive})`,
      "of another gateway": `insert into plugboard_replicas (id, sealed, seen) values ('evil', '${stored}', ${alive})`,
      "sealed long ago": replicaRow(settings, evil, now - 61_000),
      "sealed for later": replicaRow(settings, evil, now + 61_000),
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      sql(`delete from plugboard_replicas where id = 'evil'`);
      await vi.waitFor(async () => {
        await replicas?.look();
        expect(replicas?.hasUnsealed, name).toBe(false);
      }, SOON);
      sql(attempt);
      await vi.waitFor(() => expect(replicas?.hasUnsealed, name).toBe(true), SOON);
      expect(urls(), name).toEqual([]);
    }
    // Put back as it was, it counts until its time is over.
    sql(
      `delete from plugboard_replicas where id = 'evil';
        insert into plugboard_replicas (id, sealed, seen) values ('${member.replicas?.own?.id}', '${stored}', ${alive})`,
    );
    await vi.waitFor(() => expect(urls()).toEqual([url]), SOON);
    now += 61_000;
    await vi.waitFor(() => expect(urls()).toEqual([]), SOON);
    expect(replicas?.hasUnsealed).toBe(true);
  });

  it("what was used on a day is stored once PostgreSQL is there again", async () => {
    const settings = await engines().newSettings();
    const [one, two] = [await open(settings), await open(settings)];
    expect(await one.usage.use("k", 10)).toBe(true);
    await vi.waitFor(async () => expect((await two.usage.today(["k"])).get("k")).toBe(1), SOON);
    await engines().postgres.kill();
    for (let at = 0; at < 3; at += 1) expect(await one.usage.use("k", 10)).toBe(true);
    // Not known yet, and nobody is kept from calling.
    expect(await one.usage.use("new", 10)).toBe(true);
    await engines().postgres.start();
    await vi.waitFor(async () => {
      const used = await two.usage.today(["k", "new"]);
      expect([used.get("k"), used.get("new")]).toEqual([4, 1]);
    }, SOON);
  });

  it("what a killed process has left in its spool is sent once, however often it is found", async () => {
    const settings = await engines().newSettings();
    const stateDir = temporaryDirectory();
    const spool = join(stateDir, "audit-spool");
    const file = join(spool, "00000000-00000000-00000000-1-1.left.jsonl");
    const kept = join(stateDir, "kept");
    await mkdir(spool);
    // Names that clients choose are long, so that few lines are read at a time.
    const lines = Array.from({ length: 1200 }, (_, at) => lineOf(at, "\u{8a9e}".repeat(2000)));
    // One was overwritten, and is longer than any can be. The last one was not written to its end.
    const damaged = Buffer.concat([Buffer.alloc(5 * 1024 * 1024, "x"), Buffer.from("\n")]);
    const [first = NOTHING, ...rest] = lines;
    await writeFile(kept, Buffer.concat([first, damaged, ...rest, Buffer.from('{"type":"ca')]));
    for (const time of ["first", "second"]) {
      await copyFile(kept, file);
      const state = await open(settings, { stateDir });
      const numbers = lines.map((_, at) => at);
      await vi.waitFor(async () => expect(await bytesIn(state), time).toEqual(numbers), SOON);
      await state.close();
    }
    await open(settings, { stateDir });
    expect(await readdir(spool)).toHaveLength(1);
  });

  it("sessions are so many at most, and the notes of no client keep those of others from being stored", async () => {
    const settings = await engines().newSettings();
    let moved = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + moved };
    const [one, two] = [await open(settings, { clock }), await open(settings)];
    // What PostgreSQL cannot store holds where it was said.
    const odd = ["a:\0", "a:\ud800"];
    await one.sessions.set("odd", LATER, { subscriptions: [...odd, "a:1"] });
    await one.sessions.set("odd", LATER, { subscriptions: [...odd, "a:1", "a:2"] });
    await one.sessions.set("other", LATER, { logLevel: "debug" });
    await vi.waitFor(() => {
      expect(two.sessions.get("odd")?.subscriptions?.toSorted()).toEqual(["a:1", "a:2"]);
      expect(two.sessions.get("other")).toEqual({ logLevel: "debug" });
    }, SOON);
    // As a client leaves them that begins one session after another, and subscribes to much in each.
    engines().sql(
      settings,
      `insert into plugboard_sessions select 'ended' || n, ${LATER}, true, null, n - 1000000
          from generate_series(1, 200001) n;
        insert into plugboard_sessions select 'large' || n, ${LATER}, false, repeat('x', 8000000), n - 500000
          from generate_series(1, 10) n`,
    );
    moved = 11 * 60_000;
    await one.sessions.set("other", LATER, { logLevel: "info" });
    const stored = (which: string): string =>
      engines().sql(settings, `select count(*) from plugboard_sessions where ${which}`);
    // None that has ended is forgotten for one that has not.
    await vi.waitFor(() => expect(stored("is_revoked")).toBe("200000"), SOON);
    expect([stored("nonce like 'large%'"), stored("nonce in ('odd', 'other')")]).toEqual([
      "8",
      "2",
    ]);
  });

  it("of two gateways that move a session at once, one does; what its client sets stays with it, and an end is one", async () => {
    const settings = await engines().newSettings();
    const [one, two] = [(await open(settings)).sessions, (await open(settings)).sessions];
    const began = { began: "a", from: "a" };
    await one.set("s", LATER, { logLevel: "debug" }, "ann");
    const homes = await Promise.all([
      one.move?.("s", LATER, { ...began, to: "b" }, "ann"),
      two.move?.("s", LATER, { ...began, to: "c" }, "ann"),
    ]);
    expect(["b", "c"]).toContain(homes[0]);
    expect(homes[1]).toBe(homes[0]);
    const [home = ""] = homes;
    await two.set("s", LATER, { subscriptions: ["a:1"] }, "ann");
    const noted = { home, logLevel: "debug", subscriptions: ["a:1"] };
    await vi.waitFor(() => expect(one.get("s")).toEqual(noted), SOON);
    expect(await one.move?.("s", LATER, { began: "a", from: home, to: "d" })).toBe("d");
    expect(await two.move?.("new", LATER, { ...began, to: "b" })).toBe("b");
    await vi.waitFor(() => expect(one.get("new")).toEqual({ home: "b" }), SOON);
    await two.revoke("s", LATER);
    expect(await one.move?.("s", LATER, { began: "a", from: "d", to: "e" })).toBeUndefined();
  });

  it("sessions of one caller are so many at most in PostgreSQL too, and nobody else's are removed for them", async () => {
    const settings = await engines().newSettings();
    let moved = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + moved };
    const one = await open(settings, { clock });
    await one.sessions.revoke("bob's", LATER, "bob");
    await vi.waitFor(
      () =>
        expect(engines().sql(settings, "select owner from plugboard_sessions")).toMatch(/^\w+$/),
      SOON,
    );
    engines().sql(
      settings,
      `insert into plugboard_sessions select 'ended' || n, ${LATER}, true, null, n - 1000000, 'ann'
          from generate_series(1, 10001) n;
        insert into plugboard_sessions select 'large' || n, ${LATER}, false, repeat('x', 1000000), n - 500000, 'ann'
          from generate_series(1, 10) n`,
    );
    moved = 11 * 60_000;
    await one.sessions.set("other", LATER, { logLevel: "info" }, "bob");
    const stored = (which: string): string =>
      engines().sql(settings, `select count(*) from plugboard_sessions where ${which}`);
    await vi.waitFor(() => expect(stored("nonce like 'ended%'")).toBe("10000"), SOON);
    expect([stored("nonce like 'large%'"), stored("owner <> 'ann'")]).toEqual(["8", "2"]);
  });

  it("the version before this one goes on with its sessions in the tables of this one", async () => {
    const settings = await engines().newSettings();
    const one = await open(settings);
    // As that version writes them.
    engines().sql(
      settings,
      `with bumped as (update plugboard_revisions set revision = revision + 1
          where topic = 'sessions' returning revision)
        insert into plugboard_sessions select 'old', ${LATER}, true, null, revision from bumped`,
    );
    await vi.waitFor(() => expect(one.sessions.isRevoked("old")).toBe(true), SOON);
    // As it has left the tables, which are brought up to date.
    engines().sql(
      settings,
      `alter table plugboard_sessions drop column owner; drop table plugboard_sign_outs;
        delete from plugboard_steps; insert into plugboard_steps values (1)`,
    );
    const two = await open(settings);
    expect(two.sessions.isRevoked("old")).toBe(true);
    await two.sessions.revoke("new", LATER, "ann");
    await vi.waitFor(() => expect(one.sessions.isRevoked("new")).toBe(true), SOON);
  });

  it("what lies in the spool and is no file of lines holds up nothing", async () => {
    const settings = await engines().newSettings();
    const stateDir = temporaryDirectory();
    const spool = join(stateDir, "audit-spool");
    const at = (name: string): string =>
      join(spool, `00000000-00000000-00000000-1-1.${name}.jsonl`);
    await mkdir(at("directory"), { recursive: true });
    const elsewhere = join(stateDir, "elsewhere");
    await writeFile(elsewhere, Buffer.concat([lineOf(99)]));
    await symlink(elsewhere, at("link"));
    execFileSync("mkfifo", [at("pipe")]);
    const future = '{"type":"call","time":"+200000-01-01T00:00:00.000Z"}\n\0\0\udc00\n';
    await writeFile(at("lines"), Buffer.concat([Buffer.from(future), lineOf(1)]));
    const state = await open(settings, { stateDir });
    await vi.waitFor(async () => expect(await bytesIn(state)).toContain(1), SOON);
    expect(await bytesIn(state)).not.toContain(99);
    expect(state.health?.().away).toEqual([]);
  });

  it("says so while calls cannot be recorded on this machine", async () => {
    const settings = await engines().newSettings();
    const stateDir = temporaryDirectory();
    const state = await open(settings, { stateDir });
    const spool = join(stateDir, "audit-spool");
    expect(await state.audit.obstacle()).toBeUndefined();
    await writeFile(spool, "no directory");
    expect((await state.audit.obstacle())?.message).toMatch(/^new calls are not recorded on this /);
    const sink = state.audit.open(() => {});
    onTestFinished(() => sink.close());
    await expect(sink.append(lineOf(1))).rejects.toThrow();
    const said = expect.stringMatching(
      /^calls are not recorded, here and in PostgreSQL: ./,
    ) as string;
    expect(state.health?.().away).toEqual([{ engine: "audit", message: said }]);
    await rm(spool);
    await sink.append(lineOf(2));
    expect(state.health?.().away).toEqual([]);
    await vi.waitFor(async () => expect(await bytesIn(state)).toEqual([2]), SOON);
  });

  it("says so while PostgreSQL refuses the audit", async () => {
    const settings = await engines().newSettings();
    const state = await open(settings);
    engines().sql(settings, "alter table plugboard_audit add constraint none check (false)");
    const sink = state.audit.open(() => {});
    onTestFinished(() => sink.close());
    await sink.append(lineOf(1));
    const waits = [
      {
        engine: "postgres",
        message: expect.stringMatching(/^the audit waits on this machine: .*constraint/) as string,
      },
    ];
    await vi.waitFor(() => expect(state.health?.().away).toEqual(waits), SOON);
    engines().sql(settings, "alter table plugboard_audit drop constraint none");
    await vi.waitFor(async () => expect(await bytesIn(state)).toEqual([1]), SOON);
    await vi.waitFor(() => expect(state.health?.().away).toEqual([]), SOON);
  });

  it("refuses a database that cannot hold every character", async () => {
    const settings = await engines().newSettings();
    engines().sql(
      settings,
      "create database latin encoding 'LATIN1' locale 'C' template template0",
    );
    const url = settings.postgres.url.replace(/[^/]+$/, "latin");
    await expect(open({ ...settings, postgres: { url } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("is in LATIN1"),
    });
  });

  it("secrets are encrypted under the first key, and opened with any", async () => {
    const settings = await engines().newSettings();
    const old = await open(settings);
    await old.grants.write("grant", "k", GRANT);
    const token = await old.tokens.ensureDefault();
    const stored =
      "select sealed from plugboard_grants union all select sealed from plugboard_tokens";
    expect(engines().sql(settings, stored)).not.toMatch(/a-secret-token|plug_/);
    const next = ["another key for tests, long enough", ...settings.keys];
    const rotated = await open({ ...settings, keys: next });
    expect(await rotated.grants.read("grant", "k")).toEqual(GRANT);
    expect(await rotated.tokens.ensureDefault()).toBe(token);
    await rotated.checkKeys?.();
    const without = await open({ ...settings, keys: next.slice(0, 1) });
    await expect(without.checkKeys?.()).rejects.toThrow("cannot be opened");
    await expect(without.grants.read("grant", "k")).rejects.toThrow(
      "cannot be opened with gateway.shared.keys",
    );
    // A value that was moved to another place is not opened there.
    engines().sql(settings, "update plugboard_grants set key = 'other'");
    await expect(old.grants.read("grant", "other")).rejects.toThrow("cannot be opened");
  });

  it("with keys, nothing counts that is not encrypted: whoever writes to the database may have put it there", async () => {
    const settings = await engines().newSettings();
    const sealKeyOf = async (state: SharedState): Promise<unknown> => {
      const ring = await state.openSealKeys({ keepFor: 1e9, onProblem: () => {} });
      onTestFinished(() => ring.close());
      return ring.current.key.export().toString("hex");
    };
    const plain = await open({ ...settings, keys: [] });
    await plain.grants.write("grant", "k", GRANT);
    const token = await plain.tokens.ensureDefault();
    const before = await sealKeyOf(plain);
    expect(await plain.grants.read("grant", "k")).toEqual(GRANT);

    const state = await open(settings);
    const after = await sealKeyOf(state);
    expect(after).not.toBe(before);
    expect(await sealKeyOf(await open(settings))).toBe(after);
    const next = await state.tokens.ensureDefault();
    expect(next).not.toBe(token);
    await vi.waitFor(() => expect(state.tokens.find(next)).toBeDefined(), SOON);
    expect(state.tokens.find(token)).toBeUndefined();
    expect(await state.grants.read("grant", "k")).toBeUndefined();
    // Somebody signs in again.
    expect(await state.grants.replace("grant", "k", undefined, GRANT)).toBe(true);
    expect(await state.grants.read("grant", "k")).toEqual(GRANT);
  });

  it("starts as a user who may only use the tables, once they are there", async () => {
    const settings = await engines().newSettings();
    engines().sql(settings, "drop role if exists reader; create role reader login");
    const url = settings.postgres.url.replace("plugboard@", "reader@");
    const limited = { ...settings, postgres: { url } };
    await expect(open(limited)).rejects.toThrow("this user may not make them");
    await open(settings);
    engines().sql(
      settings,
      "grant select, insert, update, delete on all tables in schema public to reader",
    );
    const state = await open(limited);
    await state.tokens.ensureDefault();
    await state.openSealKeys({ keepFor: 1, onProblem: () => {} }).then((ring) => ring.close());
    engines().sql(settings, "insert into plugboard_steps values (1000)");
    await expect(open(settings)).rejects.toThrow("a later version of Plugboard");
  });

  it("says so where a right is missing, also of one that was taken away", async () => {
    const settings = await engines().newSettings();
    await open(settings);
    engines().sql(
      settings,
      `drop role if exists partly; create role partly login;
        grant select on all tables in schema public to partly`,
    );
    const url = settings.postgres.url.replace("plugboard@", "partly@");
    const partly = { ...settings, postgres: { url } };
    const refused = {
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^PostgreSQL at .* refuses: permission denied for table/),
      hint: expect.stringContaining("docs/fleet.md"),
    };
    await expect(open(partly)).rejects.toMatchObject(refused);
    const command = await open(partly, { isReplica: false });
    await expect(command.tokens.add({ name: "ci" })).rejects.toMatchObject(refused);

    engines().sql(
      settings,
      "grant insert, update, delete on all tables in schema public to partly",
    );
    const state = await open(partly);
    expect(state.health?.().away).toEqual([]);
    expect(await state.missingRights?.()).toEqual([]);
    // Needed when somebody calls, and when somebody signs out.
    engines().sql(settings, "revoke insert on plugboard_audit from partly");
    engines().sql(settings, "revoke delete on plugboard_grants from partly");
    expect(await state.missingRights?.()).toEqual([
      "insert on plugboard_audit",
      "delete on plugboard_grants",
    ]);
    engines().sql(settings, "grant insert, delete on all tables in schema public to partly");
    engines().sql(settings, "revoke update on plugboard_replicas from partly");
    const away = () => state.health?.().away.map(({ message }) => message);
    const said = /^what other gateways change is not heard here: .*plugboard_replicas$/;
    await vi.waitFor(() => expect(away()).toEqual([expect.stringMatching(said)]), SOON);
    engines().sql(settings, "grant update on plugboard_replicas to partly");
    await vi.waitFor(() => expect(away()).toEqual([]), SOON);
  });

  it.each<[string, string, (state: SharedState) => unknown]>([
    ["a sign-out", "delete on plugboard_grants", ({ grants }) => grants.remove("grant", "k")],
    [
      "an approval that stays",
      "insert on plugboard_approvals",
      ({ approvals }) => approvals.add(ALWAYS),
    ],
    ["a count of calls", "update on plugboard_usage", ({ usage }) => usage.use("ci", 5)],
    [
      "a key of sessions",
      "insert on plugboard_seal_keys",
      (state) => state.openSealKeys({ keepFor: 1, onProblem: () => {} }),
    ],
  ])(
    "says so while %s is refused, until the right is there, also if nobody tries again",
    async (_, right, need) => {
      const settings = await engines().newSettings();
      // One user has rights in one database.
      const user = new URL(settings.postgres.url).pathname.replace("/", "of_");
      await open(settings);
      engines().sql(
        settings,
        `create role ${user} login;
        grant select, insert, update, delete on all tables in schema public to ${user};
        revoke ${right} from ${user}`,
      );
      const url = settings.postgres.url.replace("plugboard@", `${user}@`);
      const state = await open({ ...settings, postgres: { url } });
      const away = () => state.health?.().away;
      expect(away()).toEqual([]);
      await Promise.resolve(need(state)).catch(() => {});
      const table = right.split(" ").at(-1) ?? "";
      const message = expect.stringMatching(
        `refuses: permission denied for table ${table}$`,
      ) as string;
      await vi.waitFor(() => expect(away()).toEqual([{ engine: "postgres", message }]), SOON);
      // What else is done there still works, and does not hide it.
      await state.replicas?.look();
      expect(await state.grants.read("grant", "k")).toBeUndefined();
      expect(away()).toEqual([{ engine: "postgres", message }]);
      engines().sql(settings, `grant ${right} to ${user}`);
      await vi.waitFor(() => expect(away()).toEqual([]), SOON);
    },
  );

  it("says what is wrong where a number of changes has no next one, and goes on with what the documentation does", async () => {
    const settings = await engines().newSettings();
    const state = await open(settings);
    await state.sessions.revoke("before", LATER);
    const sink = state.audit.open(() => {});
    onTestFinished(() => sink.close());
    await sink.append(lineOf(1));
    await vi.waitFor(async () => expect(await bytesIn(state)).toEqual([1]), SOON);
    const last = "9223372036854775807";
    engines().sql(
      settings,
      `update plugboard_revisions set revision = ${last};
        update plugboard_sessions set revision = ${last}; update plugboard_audit set batch = ${last}`,
    );
    const tooLarge = {
      code: "SYSTEM_ERROR",
      message: expect.stringMatching(/^a number in PostgreSQL at .* bigint out of range$/),
      hint: expect.stringContaining("docs/fleet.md"),
    };
    await expect(state.tokens.add({ name: "ci" })).rejects.toMatchObject(tooLarge);
    await state.replicas?.look();
    const page = readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8");
    const [, anew = ""] = /```sql\n(begin;\n[^`]*)```/.exec(page) ?? [];
    engines().sql(settings, anew);
    await state.replicas?.look();
    const { text } = await state.tokens.add({ name: "ci" });
    await vi.waitFor(() => expect(state.tokens.find(text)).toMatchObject({ name: "ci" }), SOON);
    await state.sessions.revoke("after", LATER);
    await sink.append(lineOf(2));
    const other = await open(settings);
    await vi.waitFor(async () => {
      expect(["before", "after"].map((each) => other.sessions.isRevoked(each))).toEqual([
        true,
        true,
      ]);
      expect(new Set(await bytesIn(other))).toEqual(new Set([1, 2]));
    }, SOON);
    await state.sessions.revoke("later", LATER);
    await vi.waitFor(() => expect(other.sessions.isRevoked("later")).toBe(true), SOON);
  });

  it("says what to install, and what cannot be reached", async () => {
    const settings = await engines().newSettings();
    const importOptional = (): Promise<never> =>
      Promise.reject(Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" }));
    await expect(open(settings, { importOptional })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: "gateway.shared needs the package pg, which is not installed",
      hint: expect.stringContaining("npm install pg"),
    });
    const nowhere = { ...settings, postgres: { url: "postgres://plugboard@127.0.0.1:9/x" } };
    await expect(open(nowhere)).rejects.toMatchObject({
      code: "NETWORK",
      message: expect.stringContaining("127.0.0.1:9/x cannot be reached"),
    });
    const nobody = settings.postgres.url.replace("plugboard@", "nobody@");
    await expect(open({ ...settings, postgres: { url: nobody } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/cannot be reached: role "nobody" does not exist$/),
      hint: expect.stringContaining("user and password"),
    });
    const none = settings.postgres.url.replace(/[^/]+$/, "none");
    await expect(open({ ...settings, postgres: { url: none } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/cannot be reached: database "none" does not exist$/),
    });
    const closed = { ...settings, valkey: { url: "valkey://127.0.0.1:9" } };
    expect((await open(closed)).health?.().away).toEqual([
      {
        engine: "valkey",
        message: "Valkey at 127.0.0.1:9 cannot be reached: connect ECONNREFUSED 127.0.0.1:9",
      },
    ]);
  });
});

const NOTHING = Buffer.alloc(0);

function question(id: string): PendingApproval {
  return {
    id,
    caller: { id: "token:ci", label: "ci" },
    agent: "default",
    request: {
      tool: "docs/delete",
      hash: "h",
      reason: "",
      args: { path: "/" },
      hints: {},
    } as unknown as PendingApproval["request"],
    argsHash: "a",
    createdAt: id === "first" ? 1 : 2,
    expiresAt: LATER,
  };
}

function lineOf(at: number, tool = "read"): Buffer {
  const line = {
    type: "call",
    time: new Date(at).toISOString(),
    agent: "main",
    server: "docs",
    tool,
    decision: "allowed",
    durationMs: 1,
    bytes: at,
    outcome: "ok",
  };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

/** The numbers of the lines, as they are read. */
async function bytesIn(state: SharedState): Promise<number[]> {
  const lines: AuditLine[] = [];
  for await (const line of state.audit.read({})) lines.push(line);
  return lines.flatMap((line) => (line.type === "call" ? line.bytes : []));
}
