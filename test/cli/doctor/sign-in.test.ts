import { describe, expect, it } from "vitest";
import type { SignInState } from "../../../src/core/board/sign-in-state.ts";
import { toFinding } from "../../../src/cli/doctor/sign-in.ts";

const HOUR = 3_600_000;
const NOW = 1000 * HOUR;
type State = SignInState extends infer Each
  ? Each extends object
    ? Omit<Each, "server">
    : never
  : never;

describe("a sign-in", () => {
  it.each<[string, State, string, string]>([
    ["that is missing", { kind: "missing" }, "note", "you are not signed in"],
    ["that has ended", { kind: "expired", expiresAt: NOW - 3 * HOUR }, "broken", "ended 3 h ago"],
    ["that ends soon", { kind: "ending", expiresAt: NOW + 3 * HOUR }, "note", "ends in 3 h"],
    ["that ends some day", { kind: "ending", expiresAt: NOW + 99 * HOUR }, "ok", "ends in 99 h"],
    ["that is too narrow", { kind: "too-narrow", wanted: "write" }, "warning", "(write)"],
    ["that works", { kind: "valid" }, "ok", "signed in to 'docs'"],
  ])("%s", (_, state, level, message) => {
    const finding = toFinding({ server: "docs", ...state }, NOW);
    expect(finding).toMatchObject({ level, message: expect.stringContaining(message) });
    const remedy = "remedy" in finding ? finding.remedy : "plugboard login docs";
    expect(remedy).toMatch(/plugboard login docs$/);
  });
});
