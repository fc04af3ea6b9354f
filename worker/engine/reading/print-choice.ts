/** A function that reads lines of one type, and the name it looks for. */
export interface TypedReader {
  readonly type: string;
  /** Name of the function in generated text. */
  readonly name: string;
}

/** So few types are tried one by one. */
const TRIED_MAX = 4;

/**
 * Prints statements that hand the line to the reader of its type and leave what it returned in `r0`, which is 0 before. Of many
 * types only those are tried that have the same bytes in the places that tell most of them apart.
 */
export function printChoice(readers: readonly TypedReader[]): string {
  return printAmong(readers, new Set());
}

function printAmong(readers: readonly TypedReader[], seen: ReadonlySet<number>): string {
  const place = readers.length <= TRIED_MAX ? undefined : bestPlace(readers, seen);
  return place === undefined ? printAttempts(readers) : printSwitch(readers, place, new Set([...seen, place]));
}

function printAttempts(readers: readonly TypedReader[]): string {
  return readers.map(({ name }) => `if(r0===0)r0=${name}(b0,w0,q0);`).join('');
}

function printSwitch(readers: readonly TypedReader[], place: number, seen: ReadonlySet<number>): string {
  const cases = Array.from(groupsBy(readers, place), ([byte, group]) => `case ${byte}:${printAmong(group, seen)}break;`);
  return `switch(b0[q0+${place}]){${cases.join('')}}`;
}

/** The place, within the shortest name, where the names have most different bytes; undefined when it tells none apart. */
function bestPlace(readers: readonly TypedReader[], seen: ReadonlySet<number>): number | undefined {
  const length = Math.min(...readers.map(({ type }) => type.length));
  const places = Array.from({ length }, (_, place) => place).filter((place) => !seen.has(place));
  const counted = places.map((place) => ({ place, count: groupsBy(readers, place).size }));
  const best = counted.reduce((one, other) => (other.count > one.count ? other : one), { place: 0, count: 1 });
  return best.count > 1 ? best.place : undefined;
}

function groupsBy(readers: readonly TypedReader[], place: number): ReadonlyMap<number, readonly TypedReader[]> {
  const groups = new Map<number, TypedReader[]>();
  for (const reader of readers) {
    const byte = reader.type.charCodeAt(place);
    const group = groups.get(byte);
    if (group) group.push(reader);
    else groups.set(byte, [reader]);
  }
  return groups;
}
