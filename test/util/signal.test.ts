import { afterEach, describe, expect, it, vi } from "vitest";
import { signalGroup, signalProcess } from "../../src/util/signal.ts";

afterEach(() => vi.restoreAllMocks());

describe("a signal", () => {
  it("is sent to a process that is there", () => {
    expect(signalProcess(process.pid, 0)).toBe("sent");
  });

  it("is not sent to a process that does not exist", () => {
    expect(signalProcess(2 ** 22 + 1, 0)).toBe("gone");
    expect(signalGroup(2 ** 22 + 1, 0)).toBe("gone");
  });

  it.each([0, 1, -1, Number.NaN, 1.5])(
    "is never sent to %s, which could mean every process",
    (id) => {
      const kill = vi.spyOn(process, "kill");
      expect(signalProcess(id, "SIGKILL")).toBe("gone");
      expect(signalGroup(id, "SIGKILL")).toBe("gone");
      expect(kill).not.toHaveBeenCalled();
    },
  );

  it("may be denied", () => {
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    });
    expect(signalProcess(4711, "SIGTERM")).toBe("denied");
  });
});
