// Resources and prompts of a session: those of shared servers and of its own.

import { describe, expect, it } from "vitest";
import type { ResourcesEvent } from "../../../../src/core/types/events.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { cleanUp, openWith } from "../../guard/boards.ts";
import { fixture, textOf } from "../../../support/boards.ts";
import { cwd } from "./sessions.ts";

cleanUp();

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
