/** Fields: their names and values in turn; null: the entry is not in the stream any more. */
export type Entry = readonly [id: string, fields: readonly Buffer[] | null];
type EntryReply = readonly [id: Buffer, fields: readonly Buffer[] | null];
export type StreamsReply = readonly (readonly [stream: Buffer, entries: readonly EntryReply[]])[] | null;
/** What comes of XAUTOCLAIM; servers before 7.0 have no `gone`, and null in the place of an entry that is not there any more. */
export type ClaimReply = readonly [next: Buffer, entries: readonly (EntryReply | null)[], gone?: readonly Buffer[]];

export function entriesOf(reply: StreamsReply): readonly Entry[] {
  return (reply?.[0]?.[1] ?? []).map(entryOf);
}

export function claimedOf([next, entries, gone = []]: ClaimReply): { readonly next: string; readonly entries: readonly Entry[] } {
  const found = entries.filter((entry) => entry !== null).map(entryOf);
  return { next: next.toString(), entries: [...found, ...gone.map((id) => [id.toString(), null] as const)] };
}

function entryOf([id, fields]: EntryReply): Entry {
  return [id.toString(), fields];
}

/** Ids are `<ms>-<number>`; the number of one that says none is 0. */
export function isAfter(id: string, other: string): boolean {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherNumber = 0] = other.split('-').map(Number);
  return ms > otherMs || (ms === otherMs && number > otherNumber);
}
