import { crc32c } from '../../shared/checksum/crc32c.ts';
import { CepError } from '../../shared/errors/error.ts';
import type { WebDoor } from '../../shared/outbound/web-door.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { RaftStatus } from '../raft/group.ts';
import { bounds } from '../state/bounds.ts';
import type { ClusterState, Manifest } from '../state/cluster-state.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { CheckpointName, CheckpointStore } from './checkpoint-store.ts';
import { Sweeper } from './sweeper.ts';

export interface CheckpointsOptions {
  readonly group: GroupMember;
  /** Of this member. */
  readonly store: CheckpointStore;
  /** Of all members: checkpoints go there and nowhere else. */
  readonly shared?: CheckpointStore | undefined;
  readonly web: WebDoor;
  readonly apiKey: string | undefined;
  readonly telemetry: Telemetry;
}

/** Tells a member that it is another one that asks, which has asked nobody else yet, or will itself. */
export const memberHeader = 'x-cep-member';
/** Of one copy that no worker waits for. */
const COPY_MS_MAX = 30_000;
/** Less than a worker waits: what it is told after that it does not hear. */
const WORKER_MS_MAX = 20_000;
/** A member whose link of the log is open may hang all the same: then another one is asked beside it. */
const SILENCE_MS_MAX = 2_000;
/** What a slow network carries, so that a member which is sent much is not taken for silent. */
const BYTES_PER_MS = 10_000;
/** Location of what is in the store that all members share. */
const SHARED = 'shared';

/** Placements whose checkpoints are copied at a time when the group changes. */
const PLACEMENTS_AT_A_TIME = 8;
/** Placements that one message names. */
const NAMED_MAX = 100;

interface Spreading {
  readonly placementId: string;
  readonly manifest: Manifest;
  /** As `#spread` was. */
  readonly before: ReadonlyMap<string, readonly number[]>;
  readonly leaving: number | undefined;
}

/** A placement whose newest checkpoint is not on as many members as it should be. */
interface Unspread {
  readonly placementId: string;
  readonly reason: string;
  /** As far as is known, no member that stays has it, and the one that leaves does. */
  readonly isOnlyLeaving: boolean;
}

/**
 * Checkpoints of pipelines as the group keeps them: each is on as many members as an entry of the log, a majority of those that vote, or in the store
 * that all share, before it may count. So whoever is left when the group can go on has it.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #sweeper: Sweeper;
  /** Members that were given a copy since, by the path of the checkpoint. */
  #spread = new Map<string, readonly number[]>();

  constructor(options: CheckpointsOptions) {
    this.#options = options;
    const { group, store, shared, telemetry } = options;
    const stores = [store, ...(shared ? [shared] : [])];
    const kept = (error: unknown): void => telemetry.report('CheckpointsNotRemoved', { error: (error as Error).message });
    this.#sweeper = new Sweeper({ group, store, shared, telemetry });
    // When the process starts, the log is applied again: nothing may be removed here that a later entry needs.
    group.onChange((state, events) => {
      // A snapshot does not say what went.
      if (events.length === 0) this.#sweeper.sweep('all');
      for (const { type, id } of events) {
        if (type === 'GroupUpdated' || type === 'GroupDeleted') this.#sweeper.sweep(id);
        const [oldest] = type === 'CheckpointCommitted' ? (state.manifests.get(id) ?? []) : [];
        if (oldest === undefined) continue;
        for (const one of stores) {
          // One member is enough to tidy up what is shared; what it leaves is removed by the next time.
          if (one === shared && group.status().role !== 'leader') continue;
          one.trim({ placementId: id, ...oldest }).catch(kept);
        }
      }
    });
  }

  close(): void {
    this.#sweeper.close();
  }

  /**
   * Keeps the bytes in what is shared, else here and with others, until a majority of the voting members has them. Gives the names of those who
   * have them, as many as a manifest may name. @throws CepError `storage_unavailable` when too few take them
   */
  async keep(name: CheckpointName, bytes: Uint8Array): Promise<string[]> {
    const { group, store, shared } = this.#options;
    if (shared) {
      await shared.write(name, bytes);
      return [SHARED];
    }
    const { nodeId } = group.status();
    const [, copied] = await Promise.all([store.write(name, bytes), this.#copy(name, bytes)]);
    return [nodeId, ...copied].slice(0, bounds.manifestLocationsMax).map((id) => `node-${id}`);
  }

  /** Here only. */
  async keepHere(name: CheckpointName, bytes: Uint8Array): Promise<string[]> {
    await this.#options.store.write(name, bytes);
    return [`node-${this.#options.group.status().nodeId}`];
  }

  /**
   * From what is shared, from here, else from the members that have it. @throws CepError `checkpoint_not_found` when nobody has it, `storage_unavailable` while
   * one that may have it does not answer
   */
  read(name: CheckpointName, isForMember: boolean): Promise<Uint8Array> {
    return this.#find(name, isForMember, WORKER_MS_MAX);
  }

  async #find(name: CheckpointName, isForMember: boolean, msMax: number): Promise<Uint8Array> {
    const { group, store, shared } = this.#options;
    const manifest = group.state.manifests.get(name.placementId)?.find((one) => isOf(one, name));
    const isShared = manifest?.locations.includes(SHARED) === true;
    const own = (await shared?.read(name, manifest?.checksum)) ?? (await store.read(name, manifest?.checksum));
    if (own) return own;
    const silent: string[] =
      isShared && shared === undefined ? ['the store of --checkpoint-store, which this member was started without,'] : [];
    // First those that had it when it was written; members that came since may have been given it.
    const hadIt = ({ id }: { readonly id: number }): number => (manifest?.locations.includes(`node-${id}`) ? 0 : 1);
    const others = isForMember ? [] : this.#others().sort((a, b) => hadIt(a) - hadIt(b));
    const without = new Set<number>();
    const [found] = await askInTurn({
      ...{ among: others.filter(({ isReachable }) => isReachable), count: 1, silenceMsMax: silenceMsMax(manifest?.bytes ?? 0), msMax },
      ask: async ({ id, url }, signal) => {
        const answer = await this.#ask(url, name, signal);
        if (answer === 'silent') return undefined;
        if (answer && (manifest === undefined || crc32c(answer) === manifest.checksum)) return answer;
        without.add(id);
        return undefined;
      },
    });
    if (found) return found;
    silent.push(...others.filter(({ id }) => !without.has(id)).map(({ id }) => `node-${id}`));
    const { sequence, placementId, epoch } = name;
    const which = `checkpoint ${sequence} of placement '${placementId}' under epoch ${epoch}`;
    if (silent.length === 0) throw new CepError('checkpoint_not_found', `no member has ${which}${manifest ? whoHad(manifest) : ''}`);
    throw new CepError('storage_unavailable', `${silent.join(' and ')} may have ${which}, and cannot be asked now`, {
      retryAfterSeconds: 1,
    });
  }

  /**
   * Puts the newest checkpoint of each placement on a majority of the voting members that stay: a pipeline that has nothing to do writes no
   * other one, and would be lost with the members that had it when it was written. @throws CepError `storage_unavailable` when one would be lost
   * with the member that leaves; what else cannot be done is logged
   */
  async spread(leaving: number): Promise<void> {
    const failures = await this.#spreadAll(leaving);
    const lost = failures.filter(({ isOnlyLeaving }) => isOnlyLeaving);
    this.#reportUnspread(failures);
    if (lost.length === 0) return;
    throw new CepError('storage_unavailable', `only member ${leaving} has ${described(lost)}`, {
      details: { placements: placementsIn(lost) },
      hint: `try again; once member ${leaving} is stopped it is removed without them, and these pipelines begin anew when they move`,
      retryAfterSeconds: 1,
    });
  }

  /** The same; what cannot be done is logged. Gives the placements of that, some of them where there are many. */
  async spreadIfPossible(leaving?: number): Promise<readonly string[]> {
    const failures = await this.#spreadAll(leaving);
    this.#reportUnspread(failures);
    return placementsIn(failures);
  }

  /** Goes on where one cannot be copied, and gives those. */
  async #spreadAll(leaving?: number): Promise<readonly Unspread[]> {
    const { group } = this.#options;
    const before = this.#spread;
    this.#spread = new Map();
    const placements = group.state.manifests.entries();
    const found: (Unspread | undefined)[] = [];
    let places = 0;
    const copyInTurn = async (): Promise<void> => {
      for (const [placementId, manifests] of placements) {
        const manifest = manifests.at(-1);
        if (manifest === undefined || manifest.locations.includes(SHARED)) continue;
        const place = places++;
        found[place] = await this.#spreadNewest({ placementId, manifest, before, leaving });
      }
    };
    await Promise.all(Array.from({ length: PLACEMENTS_AT_A_TIME }, copyInTurn));
    return found.filter((one) => one !== undefined);
  }

  async #spreadNewest({ placementId, manifest, before, leaving }: Spreading): Promise<Unspread | undefined> {
    const { epoch, sequence } = manifest;
    const name = { placementId, epoch, sequence };
    const path = pathOf('', name);
    const given = before.get(path) ?? [];
    const staying = votersOf(this.#options.group.status()).filter((id) => id !== leaving);
    const holders = staying.filter((id) => given.includes(id) || manifest.locations.includes(`node-${id}`));
    const missing = majorityOf(staying.length) - holders.length;
    this.#spread.set(path, given);
    if (missing <= 0) return undefined;
    // Nobody who stays is known to have it. Who leads since a short time does not know all that do.
    const isOnlyLeaving = leaving !== undefined && holders.length === 0;
    try {
      const others = staying.filter((id) => !holders.includes(id));
      const since = await this.#spreadOne(name, others, missing);
      this.#spread.set(path, [...given, ...since]);
      if (since.length >= missing) return undefined;
      return { placementId, reason: 'too few members take them', isOnlyLeaving: isOnlyLeaving && since.length === 0 };
    } catch (error) {
      if (!(error instanceof CepError)) throw error;
      // What the leaving member does not have either is not lost with it.
      return { placementId, reason: error.message, isOnlyLeaving: isOnlyLeaving && error.code !== 'checkpoint_not_found' };
    }
  }

  #reportUnspread(failures: readonly Unspread[]): void {
    if (failures.length > 0) this.#options.telemetry.report('CheckpointsNotSpread', { error: described(failures) });
  }

  /** Gives the members that have it since: this one first, where it is among them. */
  async #spreadOne(name: CheckpointName, among: readonly number[], count: number): Promise<number[]> {
    const { group, store } = this.#options;
    const { nodeId } = group.status();
    const bytes = await this.#find(name, false, COPY_MS_MAX);
    const own = among.includes(nodeId) ? [nodeId] : [];
    if (own.length > 0) await store.write(name, bytes);
    return [...own, ...(await this.#giveTo(among, count - own.length, name, bytes, COPY_MS_MAX))];
  }

  #others(): { readonly id: number; readonly url: string; readonly isReachable: boolean }[] {
    const { nodeId, peers } = this.#options.group.status();
    return peers.filter(({ id, url }) => id !== nodeId && url !== '');
  }

  /** The members that have it too. @throws CepError `storage_unavailable` when too few take it */
  async #copy(name: CheckpointName, bytes: Uint8Array): Promise<number[]> {
    const status = this.#options.group.status();
    const voters = votersOf(status);
    const missing = majorityOf(voters.length) - (voters.includes(status.nodeId) ? 1 : 0);
    const given = await this.#giveTo(voters, missing, name, bytes, WORKER_MS_MAX);
    if (given.length >= missing) return given;
    const found = given.length === 0 ? 'no other member of the group takes' : `of the ${missing} others that have to, ${given.length} take`;
    throw new CepError('storage_unavailable', `${found} a copy of the checkpoint`, { retryAfterSeconds: 1 });
  }

  /** To so many others of those named, where as many take it. Each placement begins with another one, so that no member has copies of all. */
  #giveTo(among: readonly number[], count: number, name: CheckpointName, bytes: Uint8Array, msMax: number): Promise<number[]> {
    const others = this.#others().filter(({ id, isReachable }) => isReachable && among.includes(id));
    const first = placeOf(name.placementId, others.length);
    return askInTurn({
      ...{ among: [...others.slice(first), ...others.slice(0, first)], count, silenceMsMax: silenceMsMax(bytes.length), msMax },
      ask: async ({ id, url }, signal) => ((await this.#give(url, name, bytes, signal)) ? id : undefined),
    });
  }

  async #give(url: string, name: CheckpointName, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const target = new URL(`${pathOf(url, name)}?checksum=${crc32c(bytes)}`);
    const headers = { ...this.#headers(), 'content-type': 'application/octet-stream' };
    try {
      const request = { method: 'PUT', headers, body: bytes, deadlineMs: COPY_MS_MAX, signal } as const;
      const answer = await this.#options.web.request(target, request);
      this.#options.web.leave(answer);
      return answer.statusCode === 201;
    } catch {
      // Another member is asked.
      return false;
    }
  }

  /** Undefined when it says that it does not have it. */
  async #ask(url: string, name: CheckpointName, signal: AbortSignal): Promise<Uint8Array | 'silent' | undefined> {
    try {
      const request = { method: 'GET', headers: this.#headers(), body: null, deadlineMs: COPY_MS_MAX, signal } as const;
      const answer = await this.#options.web.request(new URL(pathOf(url, name)), request);
      const bytes = new Uint8Array(await answer.body.arrayBuffer());
      if (answer.statusCode === 200) return bytes;
      return answer.statusCode === 404 ? undefined : 'silent';
    } catch {
      // It may have it all the same.
      return 'silent';
    }
  }

  #headers(): Record<string, string> {
    const { apiKey, group } = this.#options;
    const member = { [memberHeader]: String(group.status().nodeId) };
    return apiKey === undefined ? member : { ...member, 'x-api-key': apiKey };
  }
}

function votersOf({ peers }: RaftStatus): number[] {
  return peers.filter(({ role }) => role === 'voter').map(({ id }) => id);
}

function majorityOf(members: number): number {
  return members === 0 ? 0 : Math.floor(members / 2) + 1;
}

/** For what is so long. */
function silenceMsMax(bytes: number): number {
  return SILENCE_MS_MAX + bytes / BYTES_PER_MS;
}

/** One of so many places, for each text another one: names that differ in a digit have checksums that differ in a few bits. */
function placeOf(text: string, places: number): number {
  const spread = Math.imul(crc32c(Buffer.from(text)), 0x9e3779b1) >>> 0;
  return Math.floor((spread / 2 ** 32) * places);
}

function pathOf(url: string, { placementId, epoch, sequence }: CheckpointName): string {
  return `${url.replace(/\/+$/, '')}/api/v1/cluster/checkpoints/${encodeURIComponent(placementId)}/${epoch}/${sequence}`;
}

function placementsIn(failures: readonly Unspread[]): string[] {
  return failures.slice(0, NAMED_MAX).map(({ placementId }) => placementId);
}

function described(failures: readonly Unspread[]): string {
  const [first] = failures;
  const named = placementsIn(failures).map((id) => `'${id}'`);
  const more = failures.length > named.length ? ` and ${failures.length - named.length} more` : '';
  return `the newest checkpoints of ${named.join(', ')}${more}, which cannot be copied: ${first?.reason}`;
}

/** Part of the message, which workers hand on: whoever looks at the pipeline sees no hint. */
function whoHad({ locations }: Manifest): string {
  const holders = locations.map((one) => (one === SHARED ? 'the store of --checkpoint-store' : one));
  return `, though it counts: ${holders.join(', ')} had it; docs/operations/disaster-recovery.md says where to look for it, and how the pipeline begins anew`;
}

function isOf(manifest: Manifest, { epoch, sequence }: CheckpointName): boolean {
  return manifest.epoch === epoch && manifest.sequence === sequence;
}

/** The newest checkpoint of a placement that counts. @throws CepError `checkpoint_not_found` */
export function newestIn({ manifests }: ClusterState, placementId: string): Manifest {
  const manifest = manifests.get(placementId)?.at(-1);
  if (manifest) return manifest;
  throw new CepError('checkpoint_not_found', `placement '${placementId}' has no checkpoint`);
}
