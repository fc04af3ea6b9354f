import type { Entry, Index, Message, NodeId, Term } from '../../coordinator/raft/core/messages.ts';
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
  readonly #committed: (Entry & { readonly identity: string })[] = [];
  readonly #termOf = new Map<NodeId, Term>();

  /** The highest index that any node has committed. */
  get committedThrough(): Index {
    return this.#committed.length;
  }

  stepped(raft: Raft, entries: readonly Entry[], committed: readonly Entry[]): void {
    const { id, term, role, log } = raft.view;
    for (const entry of entries) this.#appended(raft, entry);
    for (const entry of committed) this.#commit(id, entry);
    if (role !== 'leader') return;
    const before = this.#leaderOf.get(term);
    hold(before === undefined || before === id, `election safety: nodes ${before} and ${id} both lead term ${term}`);
    if (before === undefined) {
      this.#leaderOf.set(term, id);
      hold(log.lastIndex >= this.committedThrough, `leader completeness: the log of node ${id} ends at ${log.lastIndex}`);
      for (let index = log.baseIndex + 1; index <= this.committedThrough; index++) {
        const isThere = log.termAt(index) === this.#committed[index - 1]?.term;
        hold(isThere, `leader completeness: node ${id} leads term ${term} without the committed entry ${index}`);
      }
    }
  }

  #appended(raft: Raft, entry: Entry): void {
    const key = `${entry.index} ${entry.term}`;
    const found = `${raft.view.log.termAt(entry.index - 1)} ${identityOf(entry)}`;
    const before = this.#entries.get(key);
    hold(before === undefined || before === found, `log matching: entry ${key} of node ${raft.view.id} is another than elsewhere`);
    this.#entries.set(key, found);
  }

  #commit(id: NodeId, entry: Entry): void {
    const identity = identityOf(entry);
    const before = this.#committed[entry.index - 1];
    if (before === undefined) {
      hold(entry.index === this.committedThrough + 1, `node ${id} commits ${entry.index} with a gap before it`);
      this.#committed.push({ ...entry, identity });
    } else {
      hold(before.identity === identity, `state machine safety: node ${id} commits another entry ${entry.index}`);
    }
  }

  /** What leaves a node is a promise that outlives a crash. `durableIndex` is where the log on its disk ends. */
  sent(message: Message, durableIndex: Index): void {
    const key = `${message.from} ${message.term}`;
    if (message.type === 'appendResponse' && message.accepted)
      hold(message.index <= durableIndex, `node ${message.from} acknowledges ${message.index}, but its disk ends at ${durableIndex}`);
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
