// One subscription on the board for all clients that want a resource.

import { describe, expect, it } from "vitest";
import { Subscriptions, type NamedResource } from "../../../src/serve/endpoint/subscriptions.ts";
import { deferred } from "../../../src/util/deferred.ts";

const LONG = "plugboard://lib/x:///a";

function open(subscribe: () => Promise<void> = async () => {}) {
  const asked: string[] = [];
  const names: Record<string, NamedResource> = { [LONG]: { server: "lib", name: "x:///a" } };
  const subscriptions = new Subscriptions(
    {
      subscribe: async (uri, { server } = {}) => {
        asked.push(`+ ${server ?? ""} ${uri}`);
        await subscribe();
      },
      unsubscribe: async (uri, { server } = {}) => void asked.push(`- ${server ?? ""} ${uri}`),
    },
    (uri) => names[uri] ?? { server: "lib", name: uri },
  );
  return { asked, names, subscriptions };
}

describe("a resource", () => {
  it("that several clients want is subscribed to once, until the last of them leaves", async () => {
    const { asked, subscriptions } = open();
    await Promise.all([subscriptions.add("x:///a"), subscriptions.add("x:///a")]);
    await subscriptions.add(LONG);
    expect(asked).toEqual(["+ lib x:///a"]);
    expect(subscriptions.urisOf("lib", "x:///a")).toEqual(["x:///a", LONG]);
    await subscriptions.remove("x:///a");
    await subscriptions.remove(LONG);
    expect(asked).toEqual(["+ lib x:///a"]);
    await subscriptions.remove("x:///a");
    expect(asked).toEqual(["+ lib x:///a", "- lib x:///a"]);
    expect(subscriptions.urisOf("lib", "x:///a")).toEqual([]);
  });

  it("that cannot be subscribed to fails for all who wait, and the next one tries again", async () => {
    let isDown = true;
    const { asked, subscriptions } = open(async () => {
      if (isDown) throw new Error("down");
    });
    const both = await Promise.allSettled([subscriptions.add("x:///a"), subscriptions.add(LONG)]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    isDown = false;
    await subscriptions.add("x:///a");
    expect(asked).toEqual(["+ lib x:///a", "+ lib x:///a"]);
    // Those who failed have nothing to give back.
    await subscriptions.remove(LONG);
    expect(asked).toHaveLength(2);
  });

  it("that a client leaves before the server has answered is left after it", async () => {
    const answered = deferred();
    const { asked, subscriptions } = open(() => answered.promise);
    const adding = subscriptions.add("x:///a");
    const removing = subscriptions.remove("x:///a");
    const again = subscriptions.add("x:///a");
    answered.resolve();
    await Promise.all([adding, removing, again]);
    expect(asked).toEqual(["+ lib x:///a", "- lib x:///a", "+ lib x:///a"]);
  });

  it("is left under the name it was subscribed by, also if that means something else now", async () => {
    const { asked, names, subscriptions } = open();
    await subscriptions.add(LONG);
    names[LONG] = { server: "other", name: "x:///a" };
    await subscriptions.remove(LONG);
    expect(asked).toEqual(["+ lib x:///a", "- lib x:///a"]);
  });

  it("whose server nobody knows is heard of from whichever server it is", async () => {
    const { names, subscriptions } = open();
    names["y:///b"] = { server: undefined, name: "y:///b" };
    await subscriptions.add("y:///b");
    expect(subscriptions.urisOf("any", "y:///b")).toEqual(["y:///b"]);
  });
});
