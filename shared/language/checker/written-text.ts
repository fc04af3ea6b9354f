/** A piece of the text as it stands in messages and plans. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
