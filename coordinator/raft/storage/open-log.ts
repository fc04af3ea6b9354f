import { crc32c } from '../../../shared/checksum/crc32c.ts';
import type { Configuration, Entry, HardState, LogPoint } from '../core/messages.ts';
import type { Recovered } from '../core/state.ts';
import {
  type ChainedPoint,
  decodeChunk,
  decodeEntry,
  decodeIdentity,
  decodeManifest,
  decodePointer,
  decodeState,
  encodeState,
  type Identity,
  keys,
  type Manifest,
  storageFormat,
  type WrittenState,
} from './codec.ts';
import { chunkBytesDefault, LogStorage, type Step, type StoredLog } from './log-storage.ts';
import { type Operation, withOperations } from './operation.ts';
import { DamagedRecord } from './record.ts';
import { decodeWitness, type FoundWitness, type Witness } from './witness.ts';

/** Everything a node finds on its disk when it starts. */
export interface DiskImage {
  /** The whole identity file, or undefined when there is none. */
  readonly identity: Uint8Array | undefined;
  readonly records: ReadonlyMap<string, Uint8Array>;
  readonly witness: Uint8Array | undefined;
}

/**
 * `absent`: nothing was ever promised here, so a new node may be made. `refused`: to go on could break what was promised; `reason` says
 * what was found and what to do. `opened`: `repair` is to be done before the node starts.
 */
export type Opened =
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'opened';
      readonly recovered: Recovered;
      /** The bytes of the snapshot, from which the state machine starts. */
      readonly state: Uint8Array;
      readonly storage: LogStorage;
      readonly repair: readonly Step[];
      /** What was found damaged, one sentence each. */
      readonly problems: readonly string[];
    };

/**
 * Between what was found and the next number of a write; more than the writes whose batches a witness holds. A power cut may leave the second
 * copy of a witness and not its first, and nothing but a later number says that what is written then is newer.
 */
const seqGap = 1_000;

const rejoin = 'remove this member from the cluster, delete its data directory, and let it join under a new id';

/**
 * Reads a node's disk and believes nothing without a sum: the entries must follow each other by index and chain from the snapshot on, and
 * reach what the witness says was promised. What was not promised may be missing and is cut off; when something promised is missing, the
 * node starts as `recovering`.
 */
export function openLog(
  disk: DiskImage,
  node: { readonly clusterId: string; readonly nodeId: number },
  chunkBytes = chunkBytesDefault,
): Opened {
  const refused = identityRefusal(disk, node);
  if (refused !== undefined) return refused;
  const identity = decodeIdentity(disk.identity as Uint8Array);
  const witness = disk.witness && decodeWitness(disk.witness);
  if (witness === undefined)
    return { kind: 'refused', reason: `neither slot of the witness file is whole, so nobody knows what this node has promised: ${rejoin}` };
  const problems: string[] = [];
  const made = madeUp(disk, witness, problems);
  const written = attempt(() => decodeState(required(made, keys.hardState)), 'the hard state', problems);
  const snapshot = attempt(() => readSnapshot(made), 'the snapshot', problems) ?? emptySnapshot(identity);
  const log = snapshot.isLost ? { entries: [], points: [] } : readEntries(made, snapshot.manifest, problems);
  return decide({ disk, made, witness, written, snapshot, log, problems, chunkBytes });
}

/**
 * The database with the batch of the witness, when it is behind that. Never when it has it: what came later, as a compaction, would be
 * undone in part. When its hard state does not say which, the batch is done if what the witness promises is there with it and not without.
 */
function madeUp(disk: DiskImage, { seq, batch, last }: FoundWitness, problems: string[]): DiskImage {
  const found: string[] = [];
  const written = attempt(() => decodeState(required(disk, keys.hardState)), 'the hard state', found);
  if (written !== undefined && written.seq >= seq) return disk;
  const made = { ...disk, records: withOperations(disk.records, batch) };
  if (written !== undefined) return made;
  if (hasPoint(disk, last) || !hasPoint(made, last)) return disk;
  problems.push(...found);
  return made;
}

function hasPoint(disk: DiskImage, point: ChainedPoint): boolean {
  const snapshot = attempt(() => readSnapshot(disk), 'the snapshot', []);
  return snapshot !== undefined && reaches(snapshot, readEntries(disk, snapshot.manifest, []), point);
}

function identityRefusal({ identity, records, witness }: DiskImage, { clusterId, nodeId }: { clusterId: string; nodeId: number }) {
  const refuse = (found: string): Opened => ({ kind: 'refused', reason: `${found}: ${rejoin}` });
  if (identity === undefined) {
    // The identity file is what a new node writes last, and its first write is one batch.
    const value = records.get(keys.hardState);
    const written = value && attempt(() => decodeState(value), 'the hard state', []);
    const hasBegun = records.size > 0 && written?.seq !== 1;
    const hasPromised = (decodeWitness(witness ?? new Uint8Array(0))?.seq ?? 1) > 1;
    return hasBegun || hasPromised ? refuse('the data has no identity file') : ({ kind: 'absent' } as const);
  }
  if (records.size === 0) return refuse('the identity file is there, but the database is empty');
  const own = attempt(() => decodeIdentity(identity), 'the identity file', []);
  if (own === undefined) return refuse('the identity file is damaged');
  if (own.format !== storageFormat) {
    const reason = `the data has format ${own.format}, and this version knows ${storageFormat}: start a version that knows it`;
    return { kind: 'refused', reason } as const;
  }
  const copied = records.get(keys.identity);
  const copy = copied && attempt(() => decodeIdentity(copied), 'the identity in the database', []);
  const isOfAnother = copy && (copy.nodeId !== own.nodeId || copy.clusterId !== own.clusterId || copy.incarnation !== own.incarnation);
  if (!isOfAnother && (own.nodeId !== nodeId || own.clusterId !== clusterId))
    return { kind: 'refused', reason: otherOwner(own, { nodeId, clusterId }) } as const;
  return isOfAnother ? refuse('the database is of another node or incarnation than the identity file') : undefined;
}

/** The data is whole, and somebody's: whoever mistook a number or a folder is not told to delete it. */
function otherOwner(own: { readonly nodeId: number; readonly clusterId: string }, node: { nodeId: number; clusterId: string }): string {
  const found = `the data is of node ${own.nodeId} of cluster ${own.clusterId}, not of node ${node.nodeId} of cluster ${node.clusterId}`;
  return `${found}: start that one here, or name this one's own directory`;
}

interface Snapshot {
  readonly number: number;
  readonly manifest: Manifest;
  readonly bytes: Uint8Array;
  readonly isLost: boolean;
}

function readSnapshot(disk: DiskImage): Snapshot {
  const number = decodePointer(required(disk, keys.pointer));
  const manifest = decodeManifest(required(disk, keys.manifest(number)));
  const bytes = new Uint8Array(manifest.size);
  let at = 0;
  for (let chunk = 0; chunk < manifest.chunkCount; chunk++) {
    const part = decodeChunk(number, chunk, required(disk, keys.chunk(number, chunk)));
    if (at + part.length > bytes.length) throw new DamagedRecord('it is longer than its manifest says');
    bytes.set(part, at);
    at += part.length;
  }
  if (at !== manifest.size || crc32c(bytes) !== manifest.checksum) throw new DamagedRecord('its bytes are not those of its manifest');
  return { number, manifest, bytes, isLost: false };
}

/** Stands for one that is lost: the leader will send what is to be known. */
function emptySnapshot({ voters }: Identity): Snapshot {
  const configuration: Configuration = { voters: [...voters].sort((a, b) => a - b), outgoing: [], learners: [], learnersNext: [] };
  const manifest = { index: 0, term: 0, configuration, chain: 0, size: 0, chunkCount: 0, checksum: 0 };
  return { number: 0, manifest, bytes: new Uint8Array(0), isLost: true };
}

interface ReadLog {
  readonly entries: readonly Entry[];
  readonly points: readonly ChainedPoint[];
}

/** The entries behind the snapshot up to the first that is missing or does not fit. */
function readEntries({ records }: DiskImage, { index: base, term: baseTerm, chain: baseChain }: Manifest, problems: string[]): ReadLog {
  const entries: Entry[] = [];
  const points: ChainedPoint[] = [];
  let [chain, term] = [baseChain, baseTerm];
  for (let index = base + 1; ; index++) {
    const value = records.get(keys.entry(index));
    if (value === undefined) return { entries, points };
    const found = attempt(() => decodeEntry(value, index, chain), `entry ${index}`, problems);
    if (found === undefined) return { entries, points };
    if (found.entry.term < term) {
      problems.push(`entry ${index} is of an earlier term than the one before it`);
      return { entries, points };
    }
    chain = found.chain;
    term = found.entry.term;
    entries.push(found.entry);
    points.push({ index, term, chain });
  }
}

interface Found {
  readonly disk: DiskImage;
  /** With what the witness adds. */
  readonly made: DiskImage;
  readonly witness: FoundWitness;
  readonly written: WrittenState | undefined;
  readonly snapshot: Snapshot;
  readonly log: ReadLog;
  readonly problems: string[];
  readonly chunkBytes: number;
}

function decide({ disk, made, witness, written, snapshot, log, problems, chunkBytes }: Found): Opened {
  const end: ChainedPoint = log.points.at(-1) ?? snapshot.manifest;
  const isCurrent = written !== undefined && written.seq >= witness.seq;
  const isWhole = !snapshot.isLost && isCurrent && isSame(end, written.last);
  const keepsPromise = isWhole || (!snapshot.isLost && reaches(snapshot, log, witness.last));
  const isForgetful = !keepsPromise || witness.recovering !== undefined;
  // What is behind the witness was never acknowledged; where something is wrong, it is not believed.
  const through = !isWhole && keepsPromise ? Math.max(witness.last.index, snapshot.manifest.index) : end.index;
  const recovering = isForgetful ? later(witness.recovering, keepsPromise ? undefined : witness.last) : undefined;
  if (!isWhole) problems.push(lossText(end, witness, keepsPromise));
  // What only this witness has goes to the database before another one takes its place.
  const isAhead = recovering !== undefined && made !== disk;
  const points = log.points.filter(({ index }) => index <= through);
  const vote = newerVote(written, witness);
  const lastTerm = points.at(-1)?.term ?? snapshot.manifest.term;
  const hardState = { ...(lastTerm > vote.term ? { term: lastTerm, vote: 0 } : vote), commit: snapshot.manifest.index };
  const newest = Math.max(written?.seq ?? 0, witness.seq);
  const stored = { seq: newest + seqGap, hardState, recovering, snapshot: snapshot.number, manifest: snapshot.manifest, points };
  const known = Math.min(written?.hardState.commit ?? 0, points.at(-1)?.index ?? 0);
  const { index, term, configuration } = snapshot.manifest;
  return {
    kind: 'opened',
    recovered: {
      hardState: { ...hardState, commit: Math.max(isWhole ? known : 0, index) },
      snapshot: { index, term, configuration },
      entries: log.entries.filter((entry) => entry.index <= through),
      recovering,
    },
    state: snapshot.bytes,
    storage: new LogStorage(stored, chunkBytes),
    repair: [
      ...(isAhead ? [{ operations: witness.batch, witness: undefined }] : []),
      ...repairSteps(isAhead ? made : disk, made, stored, snapshot.isLost),
    ],
    problems,
  };
}

function isSame(one: ChainedPoint, other: ChainedPoint): boolean {
  return one.index === other.index && one.term === other.term && one.chain === other.chain;
}

/** True when the log has the point, or stands on a snapshot as late, which is of committed entries only. */
function reaches({ manifest }: Snapshot, { points }: ReadLog, point: ChainedPoint): boolean {
  if (manifest.index >= point.index) return manifest.term >= point.term;
  const found = points[point.index - manifest.index - 1];
  return found !== undefined && isSame(found, point);
}

function later(one: LogPoint | undefined, other: LogPoint | undefined): LogPoint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.term > other.term || (one.term === other.term && one.index >= other.index) ? one : other;
}

/** A vote that only one of them knows was given: nobody is voted for twice in a term. */
function newerVote(written: WrittenState | undefined, { vote: witnessed }: Witness): Pick<HardState, 'term' | 'vote'> {
  const { term, vote } = written?.hardState ?? { term: 0, vote: 0 };
  if (term === witnessed.term) return { term, vote: vote === 0 ? witnessed.vote : vote };
  return term > witnessed.term ? { term, vote } : witnessed;
}

function lossText(end: LogPoint, { last }: Witness, keepsPromise: boolean): string {
  const place = `the log ends at entry ${end.index} of term ${end.term}, the witness at ${last.index} of term ${last.term}`;
  return keepsPromise
    ? `${place}; what was not acknowledged is dropped`
    : `${place}: acknowledged entries are lost, so this node does not vote until it has them again`;
}

/**
 * Leaves on disk exactly what was believed, and a witness that says so. After a loss the witness comes first: a database that was made to
 * agree with itself before the loss is written down would look whole after another crash. Otherwise it comes last, since the witness of
 * before may hold what the database does not have yet; `decide` sees to that after a loss.
 */
function repairSteps({ records, identity }: DiskImage, made: DiskImage, stored: StoredLog, isLost: boolean): Step[] {
  const { seq, hardState, recovering, snapshot, manifest, points } = stored;
  const last = pointOf(points.at(-1) ?? manifest);
  const kept = new Set<string>([keys.hardState, keys.identity, ...points.map(({ index }) => keys.entry(index))]);
  if (!isLost) {
    kept.add(keys.pointer).add(keys.manifest(snapshot));
    for (let chunk = 0; chunk < manifest.chunkCount; chunk++) kept.add(keys.chunk(snapshot, chunk));
  }
  const operations = [...records.keys()].filter((key) => !kept.has(key)).map((key): Operation => ({ type: 'delete', key }));
  for (const [key, value] of made.records) if (kept.has(key) && records.get(key) !== value) operations.push({ type: 'put', key, value });
  if (identity) operations.push({ type: 'put', key: keys.identity, value: identity });
  operations.push({ type: 'put', key: keys.hardState, value: encodeState({ seq, hardState, last }) });
  const witness = { seq, vote: hardState, last, recovering };
  if (recovering === undefined) return [{ operations, witness }];
  return [
    { operations: [], witness },
    { operations, witness: undefined },
  ];
}

function pointOf({ index, term, chain }: ChainedPoint): ChainedPoint {
  return { index, term, chain };
}

function required({ records }: DiskImage, key: string): Uint8Array {
  const value = records.get(key);
  if (value === undefined) throw new DamagedRecord('it is missing');
  return value;
}

function attempt<T>(read: () => T, what: string, problems: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    problems.push(`${what} cannot be read: ${error.message}`);
    return undefined;
  }
}
