import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { redactingLogger, Redactor } from "../../../src/core/redaction/redactor.ts";
import { variantsOf } from "../../../src/core/redaction/variants.ts";
import { recordingLogger } from "../../support/logger.ts";

const TOKEN = "ghp_Zx81/+Qw?9~kL";
/** Has both quotes, a backslash, and characters of two, three and four bytes. */
const PYTHON = `pä'ss\\wörd😀"`;
const PEM = [
  "-----BEGIN PRIVATE KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
  "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
  "c2hvcnQ=",
  "-----END PRIVATE KEY-----",
  "",
].join("\n");

function knowing(...secrets: string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The secret with something after its third character. */
const inside =
  (what: string) =>
  (secret: string): string =>
    secret.slice(0, 3) + what + secret.slice(3);
/** Each byte in hex between these. */
const all = (secret: string, before: string, after = ""): string =>
  Array.from(
    Buffer.from(secret),
    (byte) => `${before}${byte.toString(16).padStart(2, "0")}${after}`,
  ).join("");

describe("a secret", () => {
  it.each<[string, string, (secret: string) => string]>([
    ["as it is", TOKEN, (secret) => secret],
    ["twice", TOKEN, (secret) => `${secret} ${secret}`],
    ["as base64", TOKEN, base64],
    ["as base64 without padding", TOKEN, (secret) => base64(secret).replace(/=+$/, "")],
    ["as base64 for URLs", "??>>??>>~~", base64url],
    ["with encodeURIComponent", TOKEN, encodeURIComponent],
    [
      "in lower-case percents",
      TOKEN,
      (secret) => encodeURIComponent(secret).replace(/%../g, (each) => each.toLowerCase()),
    ],
    ["with encodeURI", "päss word/1", encodeURI],
    ["in a form", "p ss&word!(1)", (secret) => new URLSearchParams({ secret }).toString().slice(7)],
    ["in JSON", 'say "hi"\\now', asJson],
    ["in JSON in JSON", 'say "hi"\\now', (secret) => asJson(asJson(secret))],
    ["in JSON with escaped slashes", "a/b/c/d/e/f", (secret) => secret.replaceAll("/", "\\/")],
    ["as base64 with escaped slashes", "??>>??>>~~???", (s) => base64(s).replaceAll("/", "\\/")],
    ["with escaped apostrophes", "it's-a-'secret'", (secret) => secret.replaceAll("'", "\\'")],
    [
      "in JSON of ASCII alone",
      "pässwörd",
      (secret) => secret.replaceAll("ä", "\\u00e4").replaceAll("ö", "\\u00f6"),
    ],
    [
      "in JSON for HTML",
      "a<b>c&d1",
      (secret) => secret.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    ],
    [
      "in JSON of .NET",
      "a<b>c&d1",
      (secret) => secret.replace("<", "\\u003C").replace(">", "\\u003E").replace("&", "\\u0026"),
    ],
    ["as hex", TOKEN, (secret) => Buffer.from(secret).toString("hex")],
    ["as upper-case hex", TOKEN, (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
    ["as hex between colons", TOKEN, (secret) => all(secret, ":").slice(1)],
    ["as hex between hyphens", TOKEN, (secret) => all(secret, "-").slice(1).toUpperCase()],
    [
      "as upper-case hex between colons",
      TOKEN,
      (secret) => all(secret, ":").slice(1).toUpperCase(),
    ],
    ["as hex between spaces", TOKEN, (secret) => all(secret, " ").slice(1)],
    ["in capitals", TOKEN, (secret) => secret.toUpperCase()],
    ["in small letters", TOKEN, (secret) => secret.toLowerCase()],
    ["with its accents apart", "pässwörd-1", (secret) => secret.normalize("NFD")],
    ["with its accents apart, as base64", "pässwörd-1", (s) => base64(s.normalize("NFD"))],
    ["with its accents in one", "pässwörd-1".normalize("NFD"), (secret) => secret.normalize("NFC")],
    // What Python 3 shows of "pä'ss\\wörd😀\"" and of its bytes.
    ["by Python's repr", PYTHON, () => `pä\\'ss\\\\wörd😀"`],
    ["by Python's ascii", PYTHON, () => `p\\xe4\\'ss\\\\w\\xf6rd\\U0001f600"`],
    [
      "by Python's repr of bytes",
      PYTHON,
      () => `p\\xc3\\xa4\\'ss\\\\w\\xc3\\xb6rd\\xf0\\x9f\\x98\\x80"`,
    ],
    ["by Python, in quotes of the other kind", "it's-pä-1", () => "it's-p\\xc3\\xa4-1"],
    ["in quotes of YAML and SQL", "it's-a-1", (secret) => secret.replaceAll("'", "''")],
    ["in quotes of CSV", 'a"b"c-12', (secret) => secret.replaceAll('"', '""')],
    ["in quotes of a shell", "it's-a-1", (secret) => secret.replaceAll("'", "'\\''")],
    ["in both quotes of a shell", "it's-a-1", (secret) => secret.replaceAll("'", `'"'"'`)],
    ["digit by digit", "5217938046", (secret) => Array.from(secret).join(" ")],
    ["in groups of four digits", "5217938046112358", () => "5217 9380 4611 2358"],
    ["in groups with hyphens", "5217938046112358", () => "5217-9380-4611-2358"],
    ["in groups from the end", "5217938046", () => "5 217 938 046"],
    [
      "in groups between blanks that hold it together",
      "5217938046",
      () => "5\u202f217\u202f938\u202f046",
    ],
    ["in groups of thousands", "5217938046", () => "5,217,938,046"],
    ["in the groups of a card with fifteen digits", "521793804611235", () => "5217 938046 11235"],
    ["without its groups", "5217 9380 4611 2358", () => "5217938046112358"],
    ["with half a character", "broken\ud800secret", encodeLossy],
    ["from a file that ends with a newline", "hunter22\n", (secret) => secret.trim()],
  ])("is redacted %s", (_, secret, encode) => {
    const told = knowing(secret).text(`<${encode(secret)}>`);
    expect(told).toMatch(/^<(?:\[REDACTED\] ?)+>$/);
  });

  it.each<[string, string, (secret: string) => string]>([
    ["an escape", TOKEN, inside("\u001b[0m")],
    ["one character that stands for an escape", TOKEN, inside("\u009b1m")],
    ["a title for the terminal", TOKEN, inside("\u001b]0;title\u0007")],
    ["a lone ESC", TOKEN, inside("\u001b")],
    ["a zero-width character", TOKEN, inside("\u200b")],
    ["zero-width characters all over", TOKEN, (secret) => Array.from(secret).join("\u2060")],
    ["a tag", TOKEN, inside("\u{e0041}")],
    ["a soft hyphen", TOKEN, inside("\u00ad")],
    ["a control character", TOKEN, inside("\u0000\u0008")],
    ["a carriage return", TOKEN, inside("\r")],
    ["an invisible letter", TOKEN, inside("\u3164")],
    ["an end of line", TOKEN, inside("\n    ")],
    ["a zero-width character, and one of its own that nobody sees", "kéy🗝️Zx81", inside("\u200b")],
    ["an end of line, and one of its own that nobody sees", "kéy🗝️Zx81", inside("\n")],
    ["an escape that is written in JSON", TOKEN, inside("\\u001b[0m")],
    [
      "a zero-width character and percent-encoding",
      TOKEN,
      (secret) => inside("\u200b")(all(secret, "%")),
    ],
  ])("is redacted with %s inside", (_, secret, encode) => {
    expect(knowing(secret).text(`<${encode(secret)}> ok`)).toBe("<[REDACTED]> ok");
  });

  it.each<[string, string, (secret: string) => string]>([
    ["percent-encoded", TOKEN, (secret) => all(secret, "%")],
    ["percent-encoded in upper case", TOKEN, (secret) => all(secret, "%").toUpperCase()],
    ["percent-encoded twice", TOKEN, (secret) => all(secret, "%25")],
    ["percent-encoded in UTF-8", "päßwörd😀", (secret) => all(secret, "%")],
    [
      "percent-encoded, with a character that nobody sees",
      "paßw🗝️örd9",
      (secret) => all(secret, "%"),
    ],
    ["escaped for JSON", TOKEN, (secret) => all(secret, "\\u00")],
    ["escaped for JSON in JSON", TOKEN, (secret) => all(secret, "\\\\u00")],
    ["escaped in braces", TOKEN, (secret) => all(secret, "\\u{", "}")],
    ["escaped as bytes", TOKEN, (secret) => all(secret, "\\x")],
    ["escaped for HTML", TOKEN, (secret) => all(secret, "&#x", ";")],
    ["escaped for XML in HTML", TOKEN, (secret) => all(secret, "&amp;#x", ";")],
    [
      "escaped for HTML in decimals",
      TOKEN,
      (secret) => Array.from(secret, (each) => `&#${each.charCodeAt(0)};`).join(""),
    ],
  ])("is redacted if all of it is %s", (_, secret, encode) => {
    expect(knowing(secret).text(`<${encode(secret)}> ok`)).toBe("<[REDACTED]> ok");
  });

  it.each([
    ["all punctuation", "ghp&lowbar;Zx81&sol;&plus;Qw&quest;9~kL"],
    ["punctuation twice", "ghp&amp;lowbar;Zx81&amp;sol;&amp;plus;Qw&amp;quest;9~kL"],
    ["what nobody sees", "ghp_&shy;Zx81/&ZeroWidthSpace;+Qw?&zwnj;9~&NewLine;kL"],
  ])("is redacted with names of characters in HTML: %s", (_, text) => {
    expect(knowing(TOKEN).text(`<p>${text}</p>`)).toBe("<p>[REDACTED]</p>");
    expect(knowing(TOKEN).text("ghp&low;Zx81 &sol &;")).toBe("ghp&low;Zx81 &sol &;");
  });

  it("is redacted if only its special characters are escaped for HTML", () => {
    const secret = `a<b>c&d"e'f`;
    const redactor = knowing(secret);
    for (const text of ["a&lt;b&gt;c&amp;d&quot;e&#39;f", "a&#60;b&gt;c&#x26;d&#34;e&apos;f"]) {
      expect(redactor.text(`<p>${text}</p>`)).toBe("<p>[REDACTED]</p>");
    }
  });

  it.each(["\n", "\r\n", "\n  ", "\\n", "\\r\\n"])(
    "is redacted in base64 of any width, with %j at the ends of the lines",
    (lineEnd) => {
      const text = `user:${TOKEN}, and some more text after it to fill a line or two`;
      for (const width of [4, 16, 60, 64, 76]) {
        const lines = base64(text).match(new RegExp(`.{1,${width}}`, "g")) ?? [];
        const told = knowing(TOKEN).text(`-${lineEnd}${lines.join(lineEnd)}${lineEnd}-`);
        expect(told, `${width} characters`).toContain("[REDACTED]");
        const rest = Buffer.from(told.replaceAll(lineEnd, "").slice(1, -1), "base64").toString();
        expect(rest).not.toContain(TOKEN.slice(1, -1));
      }
    },
  );

  it.each([
    ["percent signs", "100% of 50%, %zz, %"],
    ["ampersands", "Tom & Jerry &c; &#; &#xzz; &amp"],
    ["backslashes", "C:\\users\\x \\u12 \\x \\"],
    ["escapes", "\u001b[31mred\u001b[0m \u001b]0;title"],
    ["lines", "ghp\n_Zx\n\n81\n"],
  ])("is not found in a text with %s that does not have it", (_, text) => {
    expect(knowing(TOKEN).text(text)).toBe(text);
    expect(knowing(TOKEN).text(`${text}<${TOKEN}>${text}`)).toBe(`${text}<[REDACTED]>${text}`);
  });

  it.each([
    ["a name in capitals", "warehouse-token", "export WAREHOUSE-TOKEN=$WAREHOUSE_TOKEN"],
    ["words with a number in small letters", "Warehouse2024", "warehouse2024"],
    ["an address in capitals", "https://a.example/x9", "HTTPS://A.EXAMPLE/X9"],
    ["counting", "12345678", "1 2 3 4 5 6 7 8, 1234 5678"],
    ["the same digits again", "00001111", "0000 1111"],
    ["a day", "2025-06-18", "20250618, 2025 0618"],
    ["other digits in groups", "5217938046", "5217 938 046"],
  ])("is not found in what is no copy of it: %s", (_, secret, text) => {
    expect(knowing(secret).text(text)).toBe(text);
  });

  it.each([
    ["hunter22", "user:"],
    ["hunter222", "user1:"],
    ["hunter2222", "user12:"],
    ["hunter2!", ""],
    ["päßwörde", "me:"],
  ])("is redacted in the base64 of text around it: %s after %j", (secret, before) => {
    for (const after of ["", "!", "!!", "!!!"]) {
      for (const encode of [base64, base64url]) {
        const told = knowing(secret).text(`Basic ${encode(`${before}${secret}${after}`)} end`);
        expect(told).toContain("[REDACTED]");
        expect(told).toMatch(/^Basic .* end$/);
        const rest = told.replace("[REDACTED]", "").replace(/^Basic | end$/g, "");
        // What is left of it is its neighbours, and at most a few bits of its first and last byte.
        expect(Buffer.from(rest, "base64").toString()).not.toContain(secret.slice(1, -1));
        expect(rest.length).toBeLessThanOrEqual(base64(before).length + base64(after).length + 3);
      }
    }
  });

  it("of several lines is redacted line by line, if the lines are long", () => {
    const redactor = knowing(PEM);
    const [header = "", first = "", second = "", short = ""] = PEM.split("\n");
    expect(redactor.text(PEM)).toBe("[REDACTED]\n");
    expect(redactor.text(`key: ${first}`)).toBe("key: [REDACTED]");
    expect(redactor.text(encodeURIComponent(second))).toBe("[REDACTED]");
    expect(redactor.text(asJson(PEM))).toBe("[REDACTED]\\n");
    expect(redactor.text(`${header} ${short}`)).toBe(`${header} ${short}`);
  });

  it.each([
    "",
    "short",
    "  abc  ",
    "seven77",
    "password",
    "postgres",
    "resource",
    "[REDACTED]",
    "REDACTED",
  ])("is not %j", (secret) => {
    const redactor = knowing(secret);
    expect(redactor.text(`<${secret}> [REDACTED]`)).toBe(`<${secret}> [REDACTED]`);
  });

  it("is not searched for while it equals a name, in whatever order they come", () => {
    const redactor = knowing("warehouse", "warehouse-token");
    expect(redactor.text("warehouse")).toBe("[REDACTED]");
    redactor.addNames(["Warehouse"]);
    expect(redactor.text("warehouse warehouse-token")).toBe("warehouse [REDACTED]");
    expect(redactor.canProtect("warehouse")).toBe(false);
    expect(redactor.canProtect("warehouse-token")).toBe(true);
    redactor.add("inventory");
    expect(redactor.text("warehouse inventory")).toBe("warehouse [REDACTED]");
  });

  it("of a parent is not affected by a child's names, and a child's is by the parent's", () => {
    const parent = knowing("warehouse");
    const child = new Redactor(parent);
    child.addNames(["warehouse"]);
    expect(child.text("warehouse")).toBe("[REDACTED]");
    parent.addNames(["inventory"]);
    child.add("inventory");
    expect(child.text("inventory")).toBe("inventory");
  });

  it("that is too short is redacted with what stands around it", () => {
    const redactor = new Redactor();
    redactor.addPhrase(":pass@");
    redactor.addPhrase("x=1");
    expect(redactor.text("db://me:pass@host, a pass, x=1")).toBe(
      "db://me[REDACTED]host, a pass, x=1",
    );
  });

  it("stays known when another replaces it", () => {
    const redactor = knowing("first-token", "first-token");
    expect(redactor.text("first-token second-token")).toBe("[REDACTED] second-token");
    redactor.add("second-token");
    expect(redactor.text("first-token second-token")).toBe("[REDACTED] [REDACTED]");
  });

  it("that is new at each start is searched for until it was replaced a few times", () => {
    const redactor = new Redactor();
    const token = (at: number): string => `token-number-${at}-${"x".repeat(at)}`;
    const isKnown = (text: string): boolean => redactor.text(text) !== text;
    redactor.replace("server b", [token(2)]);
    redactor.add(token(3));
    for (let at = 1; at <= 9; at += 1) {
      redactor.addCertain(token(at), "secret://a");
      redactor.replace("server a", [token(at), "of-the-same-server"]);
    }
    // The last four, one that another place has too, and one that was added for good.
    const known = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((at) => isKnown(`(${token(at)})`));
    expect(known).toEqual([2, 3, 6, 7, 8, 9]);
    expect(isKnown("of-the-same-server")).toBe(true);
    // What comes and goes is not new each time.
    for (let count = 0; count < 9; count += 1) {
      redactor.replace("server a", [token(9)]);
      redactor.replace("server a", [token(8)]);
    }
    expect(isKnown(`(${token(7)})`)).toBe(true);
  });

  it("of megabytes is redacted by its beginning", () => {
    const secret = "0123456789abcdef".repeat(1 << 16);
    const told = knowing(secret).text(`<${secret.slice(0, 40_000)}>`);
    expect(told.startsWith("<[REDACTED]")).toBe(true);
    expect(told.length).toBeLessThan(10_000);
  });
});

describe("a text", () => {
  it("stays as it is if no secret is known", () => {
    expect(new Redactor().text(TOKEN)).toBe(TOKEN);
    expect(new Redactor().text(TOKEN, true)).toBe(TOKEN);
  });

  it.each([
    ["no: ghp_Zx81…", "no: [REDACTED]…"],
    ["ghp_…", "[REDACTED]…"],
    ["ghp_Zx… and ghp_Zx81/+Qw… (-32000)", "[REDACTED]… and [REDACTED]… (-32000)"],
    [`${base64(TOKEN).slice(0, 12)}…`, "[REDACTED]…"],
    ["ghp…", "ghp…"],
    ["ghp_Zx81", "ghp_Zx81"],
    ["x…", "x…"],
  ])("that was cut within a secret before loses the beginning of it: %s", (text, told) => {
    expect(knowing(TOKEN).text(text)).toBe(told);
    expect(knowing(TOKEN).value([text])).toEqual([told]);
  });

  it("loses two secrets that overlap", () => {
    expect(knowing("abcdefgh", "efghijkl").text("-abcdefghijkl-")).toBe("-[REDACTED]-");
  });

  it.each([
    ["token: hunter2-hunt", "token: [REDACTED]"],
    ["token: hunter2-hunter2", "token: [REDACTED]"],
    ["hunter2-hunter2 hunter2-", "[REDACTED] [REDACTED]"],
    ["the h", "the h"],
    ["the hun", "the hun"],
    ["done", "done"],
    ["hunt", "[REDACTED]"],
    ["token: %68%75%6e%74%65%7", "token: [REDACTED]"],
    ["token: hu\u200bnte", "token: [REDACTED]"],
    ["token: \\u0068\\u0075\\u006e\\u0074\\u00", "token: [REDACTED]"],
    ["token: hunt\u001b[3", "token: [REDACTED]"],
    ["all 100%", "all 100%"],
  ])("that was cut loses the beginning of a secret: %j", (text, told) => {
    expect(knowing("hunter2-hunter2").text(text, true)).toBe(told);
  });

  it("has no secret left in any form, with any text around", () => {
    fc.assert(
      fc.property(secrets, anyText, anyText, fc.nat(), (list, before, after, pick) => {
        const redactor = knowing(...list);
        const forms = list.flatMap((secret) => [...variantsOf(secret.trim())]);
        const text = `${before}${forms[pick % forms.length]}${after}`;
        const told = redactor.text(text);
        for (const form of forms) expect(told).not.toContain(form);
        expect(redactor.text(told)).toBe(told);
      }),
    );
  });

  it("without secrets is not changed", () => {
    fc.assert(
      fc.property(secrets, anyText, (list, text) => {
        const forms = list.flatMap((secret) => [...variantsOf(secret.trim())]);
        fc.pre(!forms.some((form) => text.includes(form)));
        expect(knowing(...list).text(text)).toBe(text);
      }),
    );
  });
});

describe("the parts of a text", () => {
  it.each<[string[], string[]]>([
    [
      ["it is hunter2", "-hunter2."],
      ["it is [REDACTED]", "."],
    ],
    [
      ["hunter2-hun", "te", "", "r2, hunter2-", "hunter2"],
      ["[REDACTED]", "", "", ", [REDACTED]", ""],
    ],
    [
      ["a hunter2-hunter2 b", "c"],
      ["a [REDACTED] b", "c"],
    ],
    [
      ["aHVudGVyMi\n", "1odW50ZXIy"],
      ["[REDACTED]", ""],
    ],
    [["hunter2-"], ["hunter2-"]],
    [[], []],
  ])("%j become %j", (parts, told) => {
    expect(knowing("hunter2-hunter2").parts(parts)).toEqual(told);
    expect(new Redactor().parts(parts)).toBe(parts);
  });
});

describe("a hostile text of a megabyte", () => {
  const many = (text: string): string => text.repeat(Math.ceil((1 << 20) / text.length));
  it.each([
    "a\u200b",
    "ghp\u200b",
    "\u001b",
    "\u001b]",
    "\u009b",
    "%",
    "%25",
    "%67%68",
    "&amp;",
    "&#",
    "&#0",
    "&lowba",
    "&lowbar;",
    "\\",
    "\\u",
    "\\n",
    "\n",
    "\r",
    "ghp_\n",
    " \n",
    "\udb40",
    "ghp_Zx81/+Qw?9~k\u200b",
    "…",
    "ghp_Zx81/+Qw?9~k…",
  ])("of %j is read once, and the secret at its end is found", (text) => {
    const redactor = knowing(TOKEN, "a-second-token");
    const told = redactor.text(`${many(text)} ${inside("\u200b")(TOKEN)}`);
    // In a string for the terminal that has no end, the secret is read as it is written.
    expect(told.endsWith("[REDACTED]")).toBe(true);
  });
});

describe("a stream", () => {
  it("is passed on as soon as possible, and the rest at its end", () => {
    const stream = knowing("hunter2-hunter2").stream();
    expect(stream.push("the token is hun")).toBe("the token is ");
    expect(stream.push("ter2-")).toBe("");
    expect(stream.push("hunter2, and h")).toBe("[REDACTED], and ");
    expect(stream.push("ello.")).toBe("hello.");
    expect(stream.push("hunter2-")).toBe("");
    expect(stream.end()).toBe("hunter2-");
    expect(stream.end()).toBe("");
  });

  it("loses a secret that has something invisible inside or is encoded", () => {
    const stream = knowing("hunter2-hunter2").stream();
    expect(stream.push("the hun\u200b")).toBe("the ");
    expect(stream.push("ter2-hunter2 and %6")).toBe("[REDACTED] and ");
    expect(stream.push("8unter2-hunter%32.")).toBe("[REDACTED].");
    expect(stream.end()).toBe("");
  });

  it("of one endless secret gives one mark and is not held back", () => {
    const stream = knowing("abababab").stream();
    const told = Array.from({ length: 1000 }, () => stream.push("ab")).join("") + stream.end();
    expect(told).toBe("[REDACTED]");
  });

  it("passes unchanged if no secret is known", () => {
    const stream = new Redactor().stream();
    expect([stream.push("abc"), stream.end()]).toEqual(["abc", ""]);
  });

  it.each([
    ["an escape that hides nothing from a model", ["YWJ\u001bhY", "mFiYWI"]],
    ["half of an invisible character", ["YWJ\udb40", "\udc61hYmFiYWI"]],
    ["one that was cut, in a short text", ["abab", "…ab"]],
    ["one of the codes of a character", ["äb1%C3", "%B6ab-2x"]],
    ["one of four codes", ["ab1%25F0%259F%25", "98%2580cd-2"]],
  ])("loses a secret that is cut at %s", (_, chunks) => {
    const redactor = knowing("abababab", "äb1öab-2x", "ab1😀cd-2");
    const stream = redactor.stream();
    const told = chunks.map((chunk) => stream.push(chunk)).join("") + stream.end();
    expect(told).toMatch(/^\[REDACTED\](…ab)?$/);
    expect(redactor.text(chunks.join(""))).toBe(told);
  });

  it("has no secret left however it is cut, and gives the same as the whole text where that has no codes", () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          "abababab",
          "babcabca",
          "abc",
          "ab",
          "YWJhYmFiYWI",
          "\u200b",
          "\n",
          "%61",
          "%",
          "&#98;",
        ),
        anyText,
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 9 }), { minLength: 1 }), (parts, sizes) => {
        const redactor = knowing("abababab", "babcabca");
        const text = parts.join("");
        const stream = redactor.stream();
        let told = "";
        let at = 0;
        for (let turn = 0; at < text.length; turn += 1) {
          const size = (sizes[turn % sizes.length] ?? 0) + (turn % 3);
          told += stream.push(text.slice(at, at + size));
          at += size;
        }
        told += stream.end();
        expect(redactor.text(told)).toBe(told);
        // A code may end where a chunk does: then a stream may hide more.
        if (!CODES.some((each) => text.includes(each))) expect(told).toBe(redactor.text(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe("a value", () => {
  const redactor = knowing(TOKEN);

  it.each<[string, unknown]>([
    ["text", "harmless"],
    ["a number", 7],
    ["nothing", undefined],
    ["null", null],
    ["a list", ["a", 1, null, { b: ["c"] }]],
    ["an object", { a: { b: { c: "harmless" } }, when: new Date(0) }],
    ["binary data", new Uint8Array(Buffer.from(TOKEN))],
    ["an error", new PlugboardError("TIMEOUT", "too late")],
    [
      "what cannot be written",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
    ],
    ["what writes itself as nothing", { toJSON: () => undefined }],
  ])("without a secret is returned itself: %s", (_, value) => {
    expect(redactor.value(value)).toBe(value);
    expect(new Redactor().value(value)).toBe(value);
  });

  it.each<[string, unknown, unknown]>([
    ["itself", TOKEN, "[REDACTED]"],
    ["in a list", ["a", [TOKEN]], ["a", ["[REDACTED]"]]],
    ["in an object", { a: { b: `<${TOKEN}>` }, c: 1 }, { a: { b: "<[REDACTED]>" }, c: 1 }],
    ["in a key", { [TOKEN]: 1 }, { "[REDACTED]": 1 }],
    [
      "in a URL",
      { at: new URL(`https://a.example/?t=${encodeURIComponent(TOKEN)}`) },
      { at: "https://a.example/?t=[REDACTED]" },
    ],
    [
      "in what stands for an object",
      { a: { toJSON: () => ({ b: TOKEN }) } },
      { a: { b: "[REDACTED]" } },
    ],
  ])("with a secret is copied: %s", (_, value, told) => {
    expect(redactor.value(value)).toEqual(told);
    expect(JSON.stringify(value)).not.toContain("[REDACTED]");
  });

  it("keeps its prototype, and `__proto__` as a key", () => {
    const bare = Object.assign(Object.create(null) as object, { a: TOKEN });
    expect(Object.getPrototypeOf(redactor.value(bare))).toBeNull();
    const parsed: unknown = JSON.parse(
      `{"__proto__":{"polluted":true},"a":${JSON.stringify(TOKEN)}}`,
    );
    const told = redactor.value(parsed);
    expect(Object.getPrototypeOf(told)).toBe(Object.prototype);
    expect(JSON.stringify(told)).toBe('{"__proto__":{"polluted":true},"a":"[REDACTED]"}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("may contain itself", () => {
    interface Ring {
      name: string;
      next?: Ring;
    }
    const harmless: Ring = { name: "harmless" };
    harmless.next = harmless;
    expect(redactor.value(harmless)).toBe(harmless);
    const ring: Ring = { name: TOKEN };
    ring.next = { name: "harmless", next: ring };
    const told = redactor.value(ring);
    expect(told.name).toBe("[REDACTED]");
    expect(told.next?.next).toBe(told);
  });

  it("may share parts so often that the paths cannot be counted", () => {
    let shared: unknown = "harmless";
    for (let level = 0; level < 300; level += 1) shared = [shared, shared];
    expect(redactor.value(shared)).toBe(shared);
  });

  it("may be nested deeper than the stack", () => {
    let deep: unknown = TOKEN;
    for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    let told: unknown = redactor.value(deep);
    while (typeof told === "object" && told !== null) told = Object.values(told)[0];
    expect(told).toBe("[REDACTED]");
  });

  it("that is an error stays one, with its code, cause and stack", () => {
    const cause = new Error(`HTTP 401 for ${TOKEN}`);
    const error = new PlugboardError("SERVER_ERROR", `no access with ${TOKEN}`, {
      cause,
      server: "docs",
      hint: `is ${TOKEN} right?`,
    });
    const told = redactor.value(error);
    expect(told).toBeInstanceOf(PlugboardError);
    expect(told).toMatchObject({
      name: "PlugboardError",
      code: "SERVER_ERROR",
      server: "docs",
      message: "no access with [REDACTED]",
      hint: "is [REDACTED] right?",
    });
    expect((told.cause as Error).message).toBe("HTTP 401 for [REDACTED]");
    expect(told.stack).toContain("no access with [REDACTED]");
    expect(told.stack).not.toContain(TOKEN);
    expect(Object.keys(told)).toEqual(Object.keys(error));
    expect(error.message).toContain(TOKEN);
  });
});

describe("a redactor over another", () => {
  it("redacts the secrets of its parent, also later ones, and does not share its own", () => {
    const parent = knowing("first-secret");
    const child = new Redactor(parent);
    expect(child.text("first-secret")).toBe("[REDACTED]");
    child.add("own-secret");
    parent.add("later-secret");
    const said = "first-secret own-secret later-secret";
    expect(child.text(said)).toBe("[REDACTED] [REDACTED] [REDACTED]");
    expect(child.value([said])).toEqual(["[REDACTED] [REDACTED] [REDACTED]"]);
    expect(parent.text(said)).toBe("[REDACTED] own-secret [REDACTED]");
  });
});

describe("a redacting logger", () => {
  const redactor = knowing("hunter2-hunter2");

  it.each(["debug", "info", "warn", "error"] as const)("logs no secret at %s", (level) => {
    const inner = recordingLogger();
    const logger = redactingLogger(inner, redactor);
    logger[level]("token hunter2-hunter2", { server: "docs", reason: ["hunter2-hunter2"] });
    logger[level]("ready");
    expect(inner.lines).toEqual([
      { level, message: "token [REDACTED]", fields: { server: "docs", reason: ["[REDACTED]"] } },
      { level, message: "ready", fields: {} },
    ]);
  });

  it("is the silent logger itself where nothing is logged", () => {
    expect(redactingLogger(silentLogger, redactor)).toBe(silentLogger);
  });
});

/** With these, codes begin; the last one says that a text was cut. */
const CODES = ["%", "&", "\\", "\u001b", "\u009b", "…"];
const anyText = fc.string({ unit: "binary", maxLength: 30 });
/**
 * Without the mark's own brackets: a secret that ends in `[` is completed by the mark of another. Without plain words, since
 * those of the protocol, such as `arguments`, are not redacted.
 */
const secrets = fc.array(
  fc.string({ minLength: 8, maxLength: 40, unit: "binary" }).filter((text) => {
    const known = text.trim();
    return known.length >= 8 && !/[[\]]|^[a-z]+$/i.test(known);
  }),
  { minLength: 1, maxLength: 5 },
);

/** As every encoder of bytes does it: half a character becomes U+FFFD. */
function encodeLossy(text: string): string {
  return Buffer.from(text).toString("hex");
}

it.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
])("a logger that %s harms nothing", (_, log) => {
  const logger = redactingLogger(
    { debug: () => log(), info: () => log(), warn: () => log(), error: () => log() },
    new Redactor(),
  );
  expect(() => logger.warn("x")).not.toThrow();
});

it("a logger keeps the server's name, which is the configuration's", () => {
  const logger = recordingLogger();
  redactingLogger(logger, knowing("production")).warn("production", {
    server: "production-db",
    a: "production",
  });
  expect(logger.lines).toEqual([
    { level: "warn", message: "[REDACTED]", fields: { server: "production-db", a: "[REDACTED]" } },
  ]);
});

describe("where secrets are from", () => {
  it("is told by reference, by place, and never by value", () => {
    const agent = new Redactor();
    agent.addCertain("value-of-a-reference", JSON.stringify(["env", "TOKEN", null, null]));
    agent.replace("server files", ["value-of-a-reference", "literal-in-the-file"]);
    const session = new Redactor(agent);
    session.add("of-the-session-alone");
    const value = {
      a: ["x value-of-a-reference y", "plain"],
      b: { c: "literal-in-the-file" },
      d: "of-the-session-alone",
      e: Buffer.from("value-of-a-reference").toString("base64"),
    };
    const parts = session.partsWithSecrets(value);
    expect(parts).toEqual([
      { path: "d", sources: ["a secret that is written in another way"] },
      { path: "e", sources: ["secret://env/TOKEN"] },
      { path: "a[0]", sources: ["secret://env/TOKEN"] },
      { path: "b.c", sources: ["server files"] },
    ]);
    expect(new Redactor().partsWithSecrets(value)).toEqual([]);
  });
});
