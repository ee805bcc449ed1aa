import { describe, expect, it } from "vitest";
import type { FileContext } from "../../../../src/core/config/foreign/application.ts";
import {
  BRACES,
  type Convert,
  DOLLAR,
  editorVariables,
  ENV_IN_BRACES,
  LITERAL,
  OURS,
} from "../../../../src/core/config/foreign/variables.ts";
import { variableName } from "../../../../src/util/environment.ts";

const AROUND: FileContext = { folder: "/p/shop", cwd: "/", platform: "linux" };

const EDITOR = editorVariables(AROUND, (id) => `\${${variableName(id)}}`);

/** Undefined where only the application knows the value. */
function convert(syntax: Convert, text: string): string | undefined {
  const converted = syntax(text);
  return converted.kind === "text" ? converted.text : undefined;
}

describe("variables in another application's values", () => {
  it.each<[string, Convert, string, string | undefined]>([
    ["none", LITERAL, "${A} $B", "$${A} $B"],
    ["ours", OURS, "${A:-b} $${C}", "${A:-b} $${C}"],
    ["Claude", BRACES, "x${A}y${B:-c d}", "x${A}y${B:-c d}"],
    ["Claude", BRACES, "${not a name} ${", "$${not a name} $${"],
    ["Claude", BRACES, "$A {env:B}", "$A {env:B}"],
    ["Gemini", DOLLAR, "Bearer $TOKEN", "Bearer ${TOKEN}"],
    ["Gemini", DOLLAR, "${A}${B:-c}", "${A}${B:-c}"],
    ["Gemini", DOLLAR, "pa$word costs $5", "pa${word:-$word} costs $5"],
    ["OpenCode", ENV_IN_BRACES, "a{env:B}${C}", "a${B}$${C}"],
    ["OpenCode", ENV_IN_BRACES, "{file:~/key}", undefined],
    ["editors", EDITOR, "${env:A}-${B}-${C:-d}", "${A}-${B}-${C:-d}"],
    ["editors", EDITOR, "${workspaceFolder}/a", "/p/shop/a"],
    ["editors", EDITOR, "${workspaceFolder:api}/a", "/p/shop/a"],
    ["editors", EDITOR, "${workspaceFolderBasename}${/}${pathSeparator}", "shop//"],
    ["editors", EDITOR, "${userHome}/x", "${HOME}/x"],
    ["editors", EDITOR, "${input:api key}", "${API_KEY}"],
    ["editors", EDITOR, "${config:a.b}", undefined],
    ["editors", EDITOR, "${file:/x}", undefined],
    ["editors", EDITOR, "${a b}", "$${a b}"],
  ])("%s: %#", (_, syntax, text, expected) => {
    expect(convert(syntax, text)).toBe(expected);
  });

  it("that are not closed are no variables", () => {
    expect(convert(BRACES, "${A} ${B")).toBe("${A} $${B");
    expect(convert(DOLLAR, "$A ${B")).toBe("${A} $${B");
    expect(convert(ENV_IN_BRACES, "{env:A} {env:B")).toBe("${A} {env:B");
    expect(convert(ENV_IN_BRACES, "{env:not a name}")).toBe("{env:not a name}");
    expect(convert(EDITOR, "${env:A} ${env:B")).toBe("${A} $${env:B");
  });

  it("are those of Windows there", () => {
    const windows = editorVariables({ ...AROUND, folder: "C:\\shop", platform: "win32" });
    expect(convert(windows, "${workspaceFolder}${/}a ${userHome}")).toBe(
      "C:\\shop\\a ${USERPROFILE}",
    );
  });

  it.each(["${", "${A:-", "${input:", "{env:", "{file:", "$", "${a:", "$a{"])(
    "take linear time on a text of many %s",
    (part) => {
      const text = part.repeat(200_000);
      for (const syntax of [LITERAL, BRACES, DOLLAR, ENV_IN_BRACES, EDITOR]) {
        expect(convert(syntax, text)?.length).toBeGreaterThanOrEqual(text.length);
      }
    },
  );
});

it.each([
  ["github-token", "GITHUB_TOKEN"],
  ["my key", "MY_KEY"],
  ["API_KEY", "API_KEY"],
  ["1st", "_1ST"],
  ["--", "_"],
])("an input %s is the variable %s", (id, name) => {
  expect(variableName(id)).toBe(name);
});
