// Resources and prompts of a session: those of shared servers and of its own.

import { describe, expect, it } from "vitest";
import type { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ResourcesEvent } from "../../../../src/core/types/events.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { closeBoards, fixture, openWith, textOf } from "../../../support/boards.ts";
import { cwd } from "./sessions.ts";

closeBoards();

const WELCOME = "lib:///welcome";

describe("resources and prompts of a session", () => {
  it("are those of its own servers, then of the agent's", async () => {
    const board = await openWith({ servers: { shared: fixture("library") }, resourceTools: true });
    const session = await board.openSession({
      cwd,
      servers: { mine: fixture("library", "--scheme=mine") },
    });
    const resources = await session.resources.list();
    expect(resources.map(({ server, uri }) => `${server} ${uri}`)).toEqual([
      "mine mine:///welcome",
      "mine mine:///rules",
      "shared lib:///welcome",
      "shared lib:///rules",
    ]);
    expect((await session.resources.read("mine:///rules")).server).toBe("mine");
    expect((await session.resources.read("lib:///rules")).server).toBe("shared");
    const listed = textOf(await session.call("list_resources", { query: "mine" }));
    expect(listed).toContain("mine:///welcome");
    const context = await session.resources.context();
    expect(context).toContain("mine:///welcome");
    expect(context).toContain("lib:///welcome");
    expect((await session.prompts.list()).map(({ server }) => server)).toEqual(["mine", "shared"]);
    expect((await session.prompts.get("greet", { name: "you" })).server).toBe("mine");
    expect((await board.resources.list()).map(({ server }) => server)).toEqual([
      "shared",
      "shared",
    ]);
  });

  it("of the same name on both boards are its own, and others are not warned", async () => {
    const board = await openWith({ servers: { shared: fixture("library") } });
    const session = await board.openSession({ cwd });
    const { diagnostics } = await session.add("mine", fixture("library"));
    expect(diagnostics).toEqual([]);
    await session.resources.list();
    expect((await session.resources.read(WELCOME)).server).toBe("mine");
    expect((await session.prompts.get("greet", { name: "you" })).server).toBe("mine");
    expect(board.status().flatMap((each) => each.diagnostics)).toEqual([]);
    await session.remove("mine");
    expect((await session.resources.read(WELCOME)).server).toBe("shared");
  });

  it("of a server that the session has disabled are not there, also if the server is named", async () => {
    const board = await openWith({ servers: { shared: fixture("library") }, resourceTools: true });
    const session = await board.openSession({ cwd });
    await session.setEnabled("shared", false);
    const { resources, prompts } = session;
    const server = "shared";
    const template = (await board.resources.templates())[0]?.uriTemplate ?? "";
    const attempts: (() => Promise<unknown>)[] = [
      () => resources.list(server),
      () => resources.templates(server),
      () => resources.read(WELCOME, { server }),
      () => resources.subscribe(WELCOME, { server }),
      () => resources.complete(template, "name", "", { server }),
      () => prompts.list(server),
    ];
    for (const attempt of attempts) {
      await expect(attempt()).rejects.toMatchObject({ code: "UNKNOWN_SERVER" });
    }
    const prompt = prompts.get("shared/greet", { name: "you" });
    await expect(prompt).rejects.toMatchObject({ code: "UNKNOWN_PROMPT" });
    for (const tool of ["read_resource", "list_resources"]) {
      const answer = await session.call(tool, { uri: WELCOME, server });
      expect(answer.isError).toBe(true);
      expect(textOf(answer)).toContain("there is no server named 'shared'");
    }
    await session.close();
    await expect(resources.read(WELCOME, { server })).rejects.toThrow("no server named");
    expect((await board.resources.read(WELCOME, { server })).server).toBe("shared");
  });

  it("are reported to the session that subscribed, until it ends", async () => {
    const board = await openWith({ servers: { shared: fixture("library") } });
    const [one, two] = [await board.openSession({ cwd }), await board.openSession({ cwd })];
    const heard: [string, ResourcesEvent][] = [];
    const updated = (name: string, from: typeof one) =>
      new Promise<void>((resolve) => {
        from.on("resources", (event) => {
          heard.push([name, event]);
          resolve();
        });
      });
    const news = updated("one", one);
    void updated("two", two);
    await one.resources.subscribe(WELCOME);
    await two.resources.subscribe("lib:///rules");
    await one.call("shared/write", { uri: WELCOME, text: "new" });
    await news;
    expect(heard).toEqual([["one", { server: "shared", change: "updated", uris: [WELCOME] }]]);

    const subscriptions = async () => textOf(await board.call("shared/subscriptions"));
    expect(await subscriptions()).toBe("lib:///welcome lib:///rules");
    await one.close();
    while ((await subscriptions()).includes("welcome"));
    expect(await subscriptions()).toBe("lib:///rules");
  });

  it("that it is waiting for end with it, while the agent's board goes on", async () => {
    const approval = { tools: { "resource:*": "ask" } } as const;
    const board = await openWith({ servers: { shared: { ...fixture("library"), approval } } });
    const asked = deferred();
    const session = await board.openSession({
      cwd,
      onApproval: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const reading = session.resources.read(WELCOME).catch((error: unknown) => error);
    await asked.promise;
    await session.close();
    expect(await reading).toMatchObject({ code: "CANCELLED" });
    expect(await board.resources.list()).toHaveLength(2);
  });

  it("that are added and removed are reported to every session", async () => {
    const board = await openWith({ servers: { shared: fixture("library") } });
    const session = await board.openSession({ cwd });
    await session.resources.list();
    await session.prompts.list();
    const heard = Promise.all(
      (["resources", "prompts"] as const).map(
        (name) =>
          new Promise((resolve) => {
            session.on(name, resolve);
          }),
      ),
    );
    await session.call("shared/add", { name: "lib:///more" });
    await session.call("shared/add", { name: "more", prompt: true });
    expect(await heard).toEqual([
      { server: "shared", change: "list", uris: [] },
      { server: "shared" },
    ]);
  });
});

describe("the lists of a session", () => {
  /** `one` and `two` have the same, under other URIs. */
  const SERVERS = {
    one: fixture("library", "--scheme=one"),
    two: fixture("library", "--scheme=two"),
  };

  it("give the content of a server only where they say so, and nothing of other servers", async () => {
    const board = await openWith({ servers: SERVERS, resourceTools: true });
    const cases: [string[], string[], string[], string[]][] = [
      [["one/asked"], [], [], ["one"]],
      [["one/*"], ["one:///welcome", "one:///rules"], ["one/greet"], ["one"]],
      [
        ["one/resource:one:///w*", "two/prompt:greet"],
        ["one:///welcome"],
        ["two/greet"],
        ["one", "two"],
      ],
      [["*/asked", "@readOnly"], [], [], ["one", "two"]],
    ];
    for (const [allow, uris, prompts, servers] of cases) {
      const session = await board.openSession({
        cwd,
        tools: { allow: [...allow, "native/*"] },
      });
      const what = allow.join(" ");
      const listed = await session.resources.list();
      expect(
        listed.map(({ uri }) => uri),
        what,
      ).toEqual(uris);
      const offered = await session.prompts.list();
      expect(
        offered.map(({ server, name }) => `${server}/${name}`),
        what,
      ).toEqual(prompts);
      expect(
        session.status().map(({ name }) => name),
        what,
      ).toEqual(servers);
      const isAll = allow.includes("one/*");
      expect(await session.resources.templates(), what).toHaveLength(isAll ? 1 : 0);
      const context = await session.resources.context();
      for (const uri of ["one:///welcome", "one:///rules", "two:///welcome"]) {
        const isGiven = uris.includes(uri);
        expect(context.includes(uri), `${what}: ${uri}`).toBe(isGiven);
        const read = session.resources.read(uri).then(({ server }) => server, messageOf);
        const got = await read;
        if (isGiven) expect(got).toBe(uri.slice(0, 3));
        else expect(got, `${what}: ${uri}`).toMatch(/ refused|no server lists|Resource not found/);
        const isHidden = !servers.includes(uri.slice(0, 3));
        if (isHidden) expect(got.replace(uri, "")).not.toContain("two");
        const found = textOf(await session.call("list_resources", {}));
        expect(found.includes(uri), `${what}: ${uri}`).toBe(isGiven);
      }
      const template = "one:///shelf/{shelf}";
      const completed = session.resources.complete(template, "shelf", "a").then(() => "ok", codeOf);
      expect(await completed, what).toBe(isAll ? "ok" : "REFUSED_BY_POLICY");
      const argument = session.prompts.complete("two/greet", "who", "a").then(() => "ok", codeOf);
      const isPrompt = prompts.includes("two/greet");
      expect(await argument, what).toBe(isPrompt ? "ok" : "REFUSED_BY_POLICY");
    }
  });

  it("keep from a session what changes on a server that they do not name", async () => {
    const board = await openWith({ servers: SERVERS });
    const session = await board.openSession({ cwd, tools: { allow: ["one/*", "two/asked"] } });
    const heard: string[] = [];
    session.on("resources", ({ server, change }) => heard.push(`${server} ${change}`));
    session.on("prompts", ({ server }) => heard.push(`${server} prompts`));
    await board.resources.subscribe("two:///rules", { server: "two" });
    await expect(
      session.resources.subscribe("two:///rules", { server: "two" }),
    ).rejects.toMatchObject({ code: "REFUSED_BY_POLICY" });
    await session.resources.subscribe("one:///rules");
    // Lists are compared with what is known.
    await board.resources.list();
    await board.prompts.list();
    for (const server of ["two", "one"]) {
      await board.call(`${server}/write`, { uri: `${server}:///rules`, text: "Be loud." });
      await board.call(`${server}/add`, { name: `${server}:///new` });
      await board.call(`${server}/add`, { name: "say", prompt: true });
    }
    await expect
      .poll(() => [...new Set(heard)].toSorted())
      .toEqual(["one list", "one prompts", "one updated"]);
  });

  it("do not start a server of each session of which they leave nothing", async () => {
    const own = { scope: "session" } as const;
    const board = await openWith(
      { servers: { one: { ...SERVERS.one, ...own }, two: { ...SERVERS.two, ...own } } },
      { onlyInSessions: true },
    );
    const session = await board.openSession({ cwd, tools: { allow: ["one/asked"] } });
    expect(session.status().map(({ name, state }) => [name, state.kind])).toEqual([
      ["one", "ready"],
    ]);
  });

  it("suggest no server, and name none, that they leave nothing of", async () => {
    const board = await openWith({
      servers: { one: SERVERS.one, two: { ...SERVERS.two, lazy: true } },
    });
    const session = await board.openSession({ cwd, tools: { allow: ["one/asked"] } });
    const attempts = [
      session.find("tw/asked"),
      session.find("two/nothing"),
      session.resources.read("two:///nothing"),
      session.prompts.get("nothing"),
    ];
    for (const each of await Promise.allSettled(attempts)) {
      expect(each.status).toBe("rejected");
      const { message, hint } = (each as PromiseRejectedResult).reason as PlugboardError;
      expect(`${message} ${hint}`.replace(/'tw.*?'/, "")).not.toContain("two");
    }
  });

  it("keep the app of a tool that they allow", async () => {
    const board = await openWith({ servers: { maps: fixture("apps") } }, { showsApps: true });
    const uri = "ui://view/app.html";
    const read = async (...allow: string[]): Promise<unknown> => {
      const session = await board.openSession({ cwd, tools: { allow } });
      const listed = (await session.resources.list()).map((each) => each.uri);
      const text = await session.resources
        .read(uri)
        .then(({ contents }) => contents[0]?.text, codeOf);
      return [listed, text];
    };
    expect(await read("maps/show")).toEqual([[uri], `<!doctype html>${uri}`]);
    expect(await read("maps/add")).toEqual([[], "REFUSED_BY_POLICY"]);
  });
});

function messageOf(error: unknown): string {
  return (error as PlugboardError).message;
}

function codeOf(error: unknown): string {
  return (error as PlugboardError).code;
}
