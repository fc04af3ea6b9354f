/** Pieces of Markdown. Nothing here ends with a line end. */

/** A table; a bar or a line end inside a cell does not end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellText).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function cellText(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ').trim();
}

/** A fenced block; `info` says what it holds and how the test of the documentation treats it. */
export function fence(info: string, text: string): string {
  return `\`\`\`${info}\n${text.replace(/\n+$/, '')}\n\`\`\``;
}

/** Text as code within a line. */
export function code(text: string): string {
  return `\`${text}\``;
}

export function codes(texts: readonly string[]): string {
  return texts.map(code).join(', ');
}

/** Lower-case text that begins as a sentence does and ends as one. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? '' : '.'}`;
}

/** The anchor under which a heading can be reached. */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** A page: a note that it is generated, its heading, and blocks apart from each other. */
export function page({ title, source, blocks }: { title: string; source: string; blocks: readonly string[] }): string {
  const note = `<!-- Generated from ${source} by "npm run generate": change it there. -->`;
  return `${[note, `# ${title}`, ...blocks.filter((block) => block !== '')].join('\n\n')}\n`;
}
