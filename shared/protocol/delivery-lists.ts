import { BRACKET_CLOSE, BRACKET_OPEN } from '../events/reading/characters.ts';
import type { ListRange } from '../events/reading/list-ranges.ts';

/**
 * Where the lists of events stand in the body of a delivery, as whoever wrote it knows: `93-4451,4500-9000`, from the byte that opens
 * a list to behind the one that closes it. In the answer to one it is the lists of output events. Who does not know the header looks for
 * them, and so does who is not sent it.
 */
export const LISTS_HEADER = 'x-cep-lists';
/** So that the header stays short beside what an HTTP server takes. */
const LISTS_MAX = 128;
const SHAPE = /^\d{1,9}-\d{1,9}(?:,\d{1,9}-\d{1,9})*$/;

/** Undefined when there are too many to say, or none. */
export function listsText(lists: readonly ListRange[]): string | undefined {
  if (lists.length === 0 || lists.length > LISTS_MAX) return undefined;
  return lists.map(({ start, end }) => `${start}-${end}`).join(',');
}

/** A text of JSON with an empty list in the place of each. */
export function withoutLists(body: Buffer, lists: readonly ListRange[]): string {
  let text = '';
  let behind = 0;
  for (const { start, end } of lists) {
    text += `${body.toString('utf8', behind, start)}[]`;
    behind = end;
  }
  return text + body.toString('utf8', behind);
}

/** Undefined when it does not name lists, one behind another, of such a body. */
export function listsSaid(text: string | undefined, body: Uint8Array): readonly ListRange[] | undefined {
  if (text === undefined || !SHAPE.test(text)) return undefined;
  const lists: ListRange[] = [];
  let behind = 0;
  for (const one of text.split(',')) {
    const [start = 0, end = 0] = one.split('-').map(Number);
    if (start < behind || end < start + 2 || body[start] !== BRACKET_OPEN || body[end - 1] !== BRACKET_CLOSE) return undefined;
    lists.push({ start, end });
    behind = end;
  }
  return lists;
}
