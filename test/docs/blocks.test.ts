// Nothing on a page is unchecked without a reason.

import { expect, it } from "vitest";
import { commandsIn } from "./commands.ts";
import { allPages } from "./pages.ts";
import { kindOf } from "./programs.ts";

/** What the other tests of this folder check, and what nobody runs. */
const LANGUAGES = /^(?:console|sh|jsonc?|json5|ts|js|text|toml|yaml|lua|sql|ini|dockerfile)$/;
/** Blocks that need an account, another program or a person. This number may only go down. */
const MOST_NOT_RUN = 20;

it("every block says what it is, and commands are in blocks that are run", () => {
  const wrong = allPages().flatMap(({ path, blocks }) =>
    blocks.flatMap(({ language, line, lines }) => {
      const place = `${path}:${line}`;
      if (!LANGUAGES.test(language)) {
        return [`${place}: the block has no language that is known: \`\`\`${language}`];
      }
      const isCommand =
        language === "text" && lines.some((each) => /^(?:\$ |plugboard )/.test(each));
      return isCommand ? [`${place}: a text block is not run; make it console or sh`] : [];
    }),
  );
  expect(wrong).toEqual([]);
});

it("few blocks are not run, and each says why", () => {
  const blocks = allPages().flatMap(({ path, blocks: all }) =>
    all
      .filter(({ directive }) => directive["not-run"] !== undefined)
      .map((block) => ({ place: `${path}:${block.line}`, ...block })),
  );
  expect(blocks.filter(({ directive }) => (directive["not-run"] ?? "").length < 10)).toEqual([]);
  expect(blocks.map(({ place }) => place).length).toBeLessThanOrEqual(MOST_NOT_RUN);
  // Those that hold no command would hide a mistake in the directive.
  expect(blocks.filter((block) => commandsIn(block).length === 0)).toEqual([]);
});

it("what is shown under a command is what it prints: nothing is shown under one that is not run", () => {
  const unchecked = allPages().flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => language === "console")
      .flatMap(commandsIn)
      .filter(({ text }) => kindOf(text).kind === "not-run")
      .map(({ line, text }) => `${path}:${line}: ${text}`),
  );
  expect(unchecked).toEqual([]);
});

/** Models that their provider has ended, or ends in November 2026. */
const ENDED = /claude-(?:3|(?:opus|sonnet)-4(?:-[015])?(?![\d-]))|gpt-(?:[34]|5(?!\.))|gemini-[12]/;

it("no page has a model that its provider has ended", () => {
  const found = allPages().flatMap(({ path, blocks }) =>
    blocks.flatMap(({ line, lines }) =>
      lines.flatMap((text) => (ENDED.test(text) ? [`${path}:${line}: ${text.trim()}`] : [])),
    ),
  );
  expect(found).toEqual([]);
});
