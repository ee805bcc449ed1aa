// The parts of a page that a program writes: the text between `<!-- generated: name -->` and `<!-- /generated -->`.

/** The page with `text` as its part `part`. Throws if the page has no such part: `page` is its path, for the message. */
export function withPart(content, { page, part, text }) {
  const start = `<!-- generated: ${part} -->`;
  const end = "<!-- /generated -->";
  const from = content.indexOf(start);
  const to = content.indexOf(end, from);
  if (from === -1 || to === -1) {
    throw new Error(`${page} has no place for ${part}: ${start} … ${end}`);
  }
  return `${content.slice(0, from + start.length)}\n\n${text.trim()}\n\n${content.slice(to)}`;
}
