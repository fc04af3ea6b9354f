import { invariant } from '../../../shared/errors/error.ts';
import type { Configuration, ConfigurationChange, Index, NodeId } from './messages.ts';

const membersMax = 64;

export function configurationOf(voters: readonly NodeId[], learners: readonly NodeId[] = []): Configuration {
  return { voters: sorted(voters), outgoing: [], learners: sorted(learners), learnersNext: [] };
}

export function membersOf({ voters, outgoing, learners }: Configuration): NodeId[] {
  return sorted([...voters, ...outgoing, ...learners]);
}

export function isVoter({ voters, outgoing }: Configuration, id: NodeId): boolean {
  return voters.includes(id) || outgoing.includes(id);
}

export function isJoint({ outgoing }: Configuration): boolean {
  return outgoing.length > 0;
}

/** Why a configuration cannot be asked for, or undefined. */
export function isValidChange({ voters, learners }: ConfigurationChange): boolean {
  const all = [...voters, ...learners];
  const isId = (id: NodeId): boolean => Number.isSafeInteger(id) && id > 0;
  return voters.length > 0 && all.length <= membersMax && all.every(isId) && new Set(all).size === all.length;
}

/**
 * The configuration after a change. One voter more or less is one step, since majorities before and after overlap (dissertation §4.1);
 * anything else enters joint consensus. An empty change leaves it.
 */
export function changed(before: Configuration, change: ConfigurationChange): Configuration {
  if (change.voters.length === 0) {
    invariant(isJoint(before), 'a configuration is left that is not joint');
    return configurationOf(before.voters, [...before.learners, ...before.learnersNext]);
  }
  invariant(!isJoint(before), 'a configuration is changed while it is joint');
  const voters = sorted(change.voters);
  const differing = voters.filter((id) => !before.voters.includes(id)).length + before.voters.filter((id) => !voters.includes(id)).length;
  if (differing <= 1) return configurationOf(voters, change.learners);
  const learners = sorted(change.learners);
  const learnersNext = learners.filter((id) => before.voters.includes(id));
  return { voters, outgoing: before.voters, learners: learners.filter((id) => !learnersNext.includes(id)), learnersNext };
}

/** True when the members for which `has` holds are a majority of every configuration in force. */
export function isQuorum({ voters, outgoing }: Configuration, has: (id: NodeId) => boolean): boolean {
  return isMajority(voters, has) && (outgoing.length === 0 || isMajority(outgoing, has));
}

/** True when no majority can come together any more without those for which `against` holds. */
export function isLost({ voters, outgoing }: Configuration, against: (id: NodeId) => boolean): boolean {
  const lost = (ids: readonly NodeId[]): boolean => ids.length > 0 && !isMajority(ids, (id) => !against(id));
  return lost(voters) || lost(outgoing);
}

/** The highest index that a majority of every configuration in force has, by what each member has. */
export function quorumIndex({ voters, outgoing }: Configuration, matchOf: (id: NodeId) => Index): Index {
  const first = majorityIndex(voters, matchOf);
  return outgoing.length === 0 ? first : Math.min(first, majorityIndex(outgoing, matchOf));
}

function majorityIndex(ids: readonly NodeId[], matchOf: (id: NodeId) => Index): Index {
  invariant(ids.length > 0, 'a configuration has no voters');
  const matches = ids.map(matchOf).sort((a, b) => b - a);
  return matches[Math.floor(ids.length / 2)] as Index;
}

function isMajority(ids: readonly NodeId[], has: (id: NodeId) => boolean): boolean {
  return ids.filter(has).length > Math.floor(ids.length / 2);
}

function sorted(ids: readonly NodeId[]): NodeId[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

/** As the data of an entry: `[count of voters][voters][learners]`, each a 32-bit number, big endian. */
export function encodeChange({ voters, learners }: ConfigurationChange): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * (1 + voters.length + learners.length)));
  for (const [at, value] of [voters.length, ...voters, ...learners].entries()) view.setUint32(4 * at, value);
  return new Uint8Array(view.buffer);
}

export function decodeChange(data: Uint8Array): ConfigurationChange {
  invariant(data.length >= 4 && data.length % 4 === 0, 'a change of configuration is cut');
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [count = 0, ...ids] = Array.from({ length: data.length / 4 }, (_, at) => view.getUint32(4 * at));
  invariant(count <= ids.length, 'a change of configuration is cut');
  return { voters: ids.slice(0, count), learners: ids.slice(count) };
}
