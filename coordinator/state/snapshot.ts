import { crc32c } from '../../shared/checksum/crc32c.ts';
import { type ClusterState, emptyState, useKey } from './cluster-state.ts';
import { LATEST_FORMAT } from './format.ts';
import { Table } from './table.ts';

/** Entities that are written at a time. */
const ENTITIES_PER_PIECE = 200;
const CHECKSUM_BYTES = 4;
const LINE_FEED = 10;

/** Tables of the state, as a snapshot names them, in its order; `sessionsByUse` follows from the sessions. */
const tableNames = [
  'connectors',
  'members',
  'workers',
  'groups',
  'placements',
  'migrations',
  'manifests',
  'ingress',
  'ingressLogs',
  'sessions',
] as const;
type TableName = (typeof tableNames)[number];

/** The members of the state that are no tables. */
type Facts = Omit<ClusterState, TableName | 'sessionsByUse'>;

/** Bytes that are no snapshot that this version wrote or can read. */
export class UnreadableSnapshot extends Error {
  override readonly name = 'UnreadableSnapshot';
}

/**
 * The state in pieces, to be joined: a line of JSON with the format of the group and the facts, one for each entity, `[table, key, entity]`, and a CRC-32C
 * over all. A state never changes, so pieces may be asked for at any time and show the moment of the call. Equal states give equal bytes.
 */
export function* encodeSnapshot(state: ClusterState): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let checksum = 0;
  const piece = (lines: readonly string[]): Uint8Array => {
    const bytes = encoder.encode(`${lines.join('\n')}\n`);
    checksum = crc32c(bytes, checksum);
    return bytes;
  };
  const { format, index, term, nowMs, removedMembers, scaling, sessionChars, ingressChars } = state;
  const facts: Facts = { format, index, term, nowMs, removedMembers, scaling, sessionChars, ingressChars };
  yield piece([JSON.stringify(facts)]);
  for (const name of tableNames) {
    let lines: string[] = [];
    for (const [key, entity] of state[name].entries()) {
      lines.push(JSON.stringify([name, key, entity]));
      if (lines.length < ENTITIES_PER_PIECE) continue;
      yield piece(lines);
      lines = [];
    }
    if (lines.length > 0) yield piece(lines);
  }
  const end = new Uint8Array(CHECKSUM_BYTES);
  new DataView(end.buffer).setUint32(0, checksum);
  yield end;
}

/** The state that a snapshot shows. `formatMax` is the latest format that is read. @throws UnreadableSnapshot */
export function decodeSnapshot(bytes: Uint8Array, formatMax: number = LATEST_FORMAT): ClusterState {
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < 0) throw new UnreadableSnapshot(`a snapshot of ${bytes.length} bytes is cut`);
  const stated = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end);
  if (crc32c(bytes.subarray(0, end)) !== stated) throw new UnreadableSnapshot('the checksum of the snapshot is wrong: it was changed');
  const lines = linesOf(bytes.subarray(0, end));
  const facts = JSON.parse(lines.next().value ?? '') as Facts;
  if (facts.format > formatMax)
    throw new UnreadableSnapshot(
      `the snapshot has format ${facts.format}, and this version reads up to ${formatMax}. Start the version of cep that the other members run`,
    );
  const tables = Object.fromEntries(tableNames.map((name) => [name, Table.empty<unknown>()])) as Record<TableName, Table<unknown>>;
  for (const line of lines) {
    const [name, key, entity] = JSON.parse(line) as [TableName, string, unknown];
    tables[name] = tables[name].set(key, entity);
  }
  const state = { ...emptyState, ...facts, ...tables } as ClusterState;
  let byUse = Table.empty<string>();
  for (const session of state.sessions.values()) byUse = byUse.set(useKey(session), session.id);
  return { ...state, sessionsByUse: byUse };
}

/** One at a time: all of them are more than one text can hold when the state is very large. */
function* linesOf(bytes: Uint8Array): Generator<string, undefined> {
  const decoder = new TextDecoder();
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) return;
    yield decoder.decode(bytes.subarray(start, end));
    start = end + 1;
  }
}
