import { changed, decodeChange, isQuorum } from '../../coordinator/raft/core/configuration.ts';
import type { Configuration, Entry, Index, Message, NodeId, Term } from '../../coordinator/raft/core/messages.ts';
import type { Raft } from '../../coordinator/raft/core/raft.ts';

/** A law of Raft that did not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

function hold(condition: boolean, law: string): void {
  if (!condition) throw new Violation(law);
}

/** An entry as a text that is the same for the same entry. */
function identityOf({ term, kind, data }: Entry): string {
  return `${term} ${kind} ${data.join(',')}`;
}

/**
 * Sees every node after every step, and remembers across crashes: the laws of figure 3 of the paper, and what votes and
 * acknowledgements have promised.
 */
export class Invariants {
  readonly #leaderOf = new Map<Term, NodeId>();
  /** Who was voted for, by `<node> <term>`. */
  readonly #votes = new Map<string, NodeId>();
  /** By `<index> <term>`: the entry there and the term before it. By induction, equal pairs mean equal logs up to there. */
  readonly #entries = new Map<string, string>();
  /** `knownIn`: the term of the node that knew it first. */
  readonly #committed: (Entry & { readonly identity: string; readonly knownIn: Term })[] = [];
  readonly #termOf = new Map<NodeId, Term>();
  /** Of the state machine, by the index it has applied. */
  readonly #hashes = new Map<Index, number>();
  /** By `<node> <incarnation>`. */
  readonly #commitOf = new Map<string, Index>();

  /** The highest index that any node has committed. */
  get committedThrough(): Index {
    return this.#committed.length;
  }

  stepped(raft: Raft, incarnation: number, entries: readonly Entry[], committed: readonly Entry[]): void {
    const { id, term, role, log } = raft.view;
    for (const entry of entries) this.#appended(raft, entry);
    for (const entry of committed) this.#commit(id, term, entry);
    const life = `${id} ${incarnation}`;
    hold(log.commit >= (this.#commitOf.get(life) ?? 0), `the commit index of node ${id} falls to ${log.commit}`);
    hold(log.commit <= log.lastIndex, `node ${id} has committed ${log.commit}, but its log ends at ${log.lastIndex}`);
    this.#commitOf.set(life, log.commit);
    if (role !== 'leader') return;
    const before = this.#leaderOf.get(term);
    hold(before === undefined || before === id, `election safety: nodes ${before} and ${id} both lead term ${term}`);
    if (before === undefined) {
      this.#leaderOf.set(term, id);
      this.#isComplete(raft);
    }
  }

  /** A node that slept may win an election that others have long forgotten: it must have what was committed before its term only. */
  #isComplete({ view: { id, term, log } }: Raft): void {
    const through = this.#committed.findLast(({ knownIn }) => knownIn < term)?.index ?? 0;
    hold(log.lastIndex >= through, `leader completeness: the log of node ${id} ends at ${log.lastIndex}, before ${through}`);
    for (let index = log.baseIndex + 1; index <= through; index++) {
      const isThere = log.termAt(index) === this.#committed[index - 1]?.term;
      hold(isThere, `leader completeness: node ${id} leads term ${term} without the committed entry ${index}`);
    }
  }

  #appended(raft: Raft, entry: Entry): void {
    const { log, id, role, term } = raft.view;
    const key = `${entry.index} ${entry.term}`;
    const found = `${log.termAt(entry.index - 1)} ${identityOf(entry)}`;
    const before = this.#entries.get(key);
    hold(before === undefined || before === found, `log matching: entry ${key} of node ${id} is another than elsewhere`);
    this.#entries.set(key, found);
    if (before === undefined && entry.kind === 'configuration' && role === 'leader' && entry.term === term) this.#proposed(raft, entry);
  }

  /** A leader makes one change at a time, when it knows what is committed, and between configurations whose majorities overlap. */
  #proposed({ view }: Raft, { index, term, data }: Entry): void {
    const { log, id } = view;
    const pending = log.slice(log.baseIndex + 1, index - 1).filter((entry) => entry.kind === 'configuration' && entry.index > log.commit);
    hold(pending.length === 0, `node ${id} changes the configuration at ${index} before that at ${pending[0]?.index} is committed`);
    const isReady = log.termAt(log.commit) === term;
    hold(isReady, `node ${id} changes the configuration at ${index} before an entry of its term ${term} is committed`);
    const before = view.configurationAt(index - 1);
    const after = changed(before, decodeChange(data));
    hold(overlap(before, after), `the majorities before and after entry ${index} need not overlap`);
  }

  #commit(id: NodeId, knownIn: Term, entry: Entry): void {
    const identity = identityOf(entry);
    const before = this.#committed[entry.index - 1];
    if (before === undefined) {
      hold(entry.index === this.committedThrough + 1, `node ${id} commits ${entry.index} with a gap before it`);
      this.#committed.push({ ...entry, identity, knownIn });
    } else {
      hold(before.identity === identity, `state machine safety: node ${id} commits another entry ${entry.index}`);
    }
  }

  applied(id: NodeId, index: Index, hash: number): void {
    const before = this.#hashes.get(index) ?? hash;
    hold(before === hash, `state machine safety: node ${id} has another state at ${index} than others`);
    this.#hashes.set(index, hash);
  }

  /** What leaves a node is a promise that outlives a crash. `isDurable`: the entry that it acknowledges is on its disk. */
  sent(message: Message, isDurable: boolean): void {
    const key = `${message.from} ${message.term}`;
    if (message.type === 'appendResponse' && message.accepted)
      hold(isDurable, `node ${message.from} acknowledges ${message.index}, which its disk does not have`);
    const isQuestion = (message.type === 'voteRequest' || message.type === 'voteResponse') && message.pre;
    if (isQuestion) return;
    hold(message.term >= (this.#termOf.get(message.from) ?? 0), `node ${message.from} has forgotten term ${message.term}`);
    this.#termOf.set(message.from, message.term);
    const vote =
      message.type === 'voteRequest' ? message.from : message.type === 'voteResponse' && message.granted ? message.to : undefined;
    if (vote === undefined) return;
    const before = this.#votes.get(key) ?? vote;
    hold(before === vote, `node ${message.from} votes in term ${message.term} for ${before} and for ${vote}`);
    this.#votes.set(key, vote);
  }

  /** A read sees everything whose commit a client was told of before the read began. */
  readAllowed(index: Index, acknowledgedBefore: Index): void {
    hold(index >= acknowledgedBefore, `a read at ${index} misses what was acknowledged at ${acknowledgedBefore}`);
  }
}

/** Tries all sets of members: where one set decides in the one configuration, those left out do not decide in the other. */
function overlap(one: Configuration, other: Configuration): boolean {
  const ids = [...new Set([...one.voters, ...one.outgoing, ...other.voters, ...other.outgoing])];
  for (let set = 0; set < 1 << ids.length; set++) {
    const isIn = (id: NodeId): boolean => (set & (1 << ids.indexOf(id))) !== 0;
    if (isQuorum(one, isIn) && isQuorum(other, (id) => !isIn(id))) return false;
  }
  return true;
}
