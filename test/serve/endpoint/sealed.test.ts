import { createSecretKey, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyRing, type SealKey, Sealer } from "../../../src/serve/endpoint/sealed.ts";

function ring(...keys: [SealKey, ...SealKey[]]): KeyRing {
  return { current: keys[0], find: (id) => keys.find((key) => key.id === id) };
}

function newKey(id: number): SealKey {
  return { id, key: createSecretKey(randomBytes(32)) };
}

const key = newKey(7);
const sealer = new Sealer(ring(key), randomBytes);
const value = { agent: "coder", nested: { list: [1, "é", null] } };

describe("Sealer", () => {
  it.each([{}, value, { text: "x".repeat(100_000) }])("opens what it sealed", (each) => {
    expect(sealer.open("session", sealer.seal("session", each))).toEqual(each);
  });

  it("never seals the same text twice, and shows nothing of the value", () => {
    const [first, second] = [sealer.seal("session", value), sealer.seal("session", value)];
    expect(first).not.toBe(second);
    expect(first).toMatch(/^[\w-]+$/);
    expect(Buffer.from(first, "base64url").toString("latin1")).not.toContain("coder");
  });

  it("opens what an older key of the ring has sealed, and seals with the newest", () => {
    const sealed = sealer.seal("session", value);
    const rotated = new Sealer(ring(newKey(8), key), randomBytes);
    expect(rotated.open("session", sealed)).toEqual(value);
    expect(Buffer.from(rotated.seal("session", value), "base64url")[1]).toBe(8);
  });

  it("with a key of its own opens what it sealed, and nothing of another", () => {
    const [one, other] = [Sealer.withOwnKey(randomBytes), Sealer.withOwnKey(randomBytes)];
    const own = one.seal("session", value);
    expect(one.open("session", own)).toEqual(value);
    expect(other.open("session", own)).toBeUndefined();
  });

  const sealed = sealer.seal("session", value);
  const bytes = Buffer.from(sealed, "base64url");
  const with1 = (at: number, byte: number): string => {
    const changed = Buffer.from(bytes);
    changed[at] = byte;
    return changed.toString("base64url");
  };

  it.each<[string, string, string?]>([
    ["an empty text", ""],
    ["a text of another purpose", sealed, "request-state"],
    ["a text for a longer purpose", sealed, "session2"],
    ["another version", with1(0, 2)],
    ["a key that the ring does not have", with1(1, 9)],
    [
      "a key of the same id with other bytes",
      new Sealer(ring(newKey(7)), randomBytes).seal("session", value),
    ],
    ["a changed nonce", with1(2, (bytes[2] ?? 0) ^ 1)],
    ["a changed ciphertext", with1(14, (bytes[14] ?? 0) ^ 1)],
    ["a changed tag", with1(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1)],
    ["a text that is cut", sealed.slice(0, -4)],
    ["a text that is cut to its head", sealed.slice(0, 20)],
    ["a text with something after it", `${sealed}AAAA`],
    ["a text with padding", `${sealed}==`],
    ["a text with a space in it", `${sealed.slice(0, 10)} ${sealed.slice(10)}`],
    ["base64 with other characters", `+/${sealed.slice(2)}`],
    ["10 KB of garbage", randomBytes(10_240).toString("base64url")],
    ["10 KB that are not ASCII", "é\u0000".repeat(5120)],
    ["another spelling of the last character", respelled(sealed)],
  ])("does not open %s", (_, text, purpose = "session") => {
    expect(sealer.open(purpose, text)).toBeUndefined();
  });

  it("opens nothing that anybody makes up", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.base64String(), fc.uint8Array({ maxLength: 200 })),
        (made) => {
          const text =
            typeof made === "string"
              ? made
              : Buffer.concat([Buffer.of(1, 7), made]).toString("base64url");
          expect(sealer.open("session", text)).toBeUndefined();
        },
      ),
    );
  });
});

/** The last character of base64url may have bits that mean nothing. A cut text always has such bits here. */
function respelled(text: string): string {
  const size = Buffer.from(text, "base64url").length;
  if (size % 3 === 0) return `${text}A`;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(text.at(-1) ?? "A");
  return text.slice(0, -1) + alphabet[last + 1];
}
