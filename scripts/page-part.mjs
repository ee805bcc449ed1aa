// The parts of a page that a program writes: the text between `<!-- generated: name -->` and `<!-- /generated -->`.

/** The page with `text` as its part `part`. Throws if the page has no such part: `page` is its path, for the message. */
export function withPart(content, { page, part, text }) {
  const [from, to] = placeOf(content, { page, part });
  return `${content.slice(0, from)}\n\n${text.trim()}\n\n${content.slice(to)}`;
}

/** What is there now. */
export function partOf(content, { page, part }) {
  return content.slice(...placeOf(content, { page, part })).trim();
}

function placeOf(content, { page, part }) {
  const start = `<!-- generated: ${part} -->`;
  const end = "<!-- /generated -->";
  const from = content.indexOf(start);
  const to = content.indexOf(end, from);
  if (from === -1 || to === -1) {
    throw new Error(`${page} has no place for ${part}: ${start} … ${end}`);
  }
  return [from + start.length, to];
}
