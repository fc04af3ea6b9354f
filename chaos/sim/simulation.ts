import { configurationOf, membersOf } from '../../coordinator/raft/core/configuration.ts';
import type { Entry, Index, Input, NodeId, Output, Term } from '../../coordinator/raft/core/messages.ts';
import type { Raft } from '../../coordinator/raft/core/raft.ts';
import { decodePacket, encodePacket, type Packet } from '../../coordinator/raft/transport/packet.ts';
import { checkLinearizable, type Invocation } from '../linearizability/checker.ts';
import { type Reply, type Request, SimulatedClient } from './client.ts';
import { slotBytes } from './disk.ts';
import { EventQueue, seededRandom } from './event-queue.ts';
import { drawFaults, type FaultName, type Faults } from './faults.ts';
import { Invariants, Violation } from './invariants.ts';
import { electionTicks, SimulatedNode } from './node.ts';
import { encodeCommand, type StateMachine } from './state-machine.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Inputs to nodes while there are faults. */
  readonly steps: number;
  /** Faults that are left out of what the seed draws. */
  readonly without?: readonly FaultName[];
}

export interface SimulationResult {
  readonly steps: number;
  readonly committed: number;
  readonly elections: number;
  /** Reads and writes of clients in the history that was checked. */
  readonly operations: number;
  /** Starts of nodes that had lost acknowledged entries, and nodes that may not start again. */
  readonly recoveries: number;
  readonly refusals: number;
}

const TICK_MS = 50;
/** Twenty of the longest election timeouts. */
const HEALED_MS_MAX = 20 * 2 * electionTicks * TICK_MS;
const clientCount = 3;
/** The hash of the state is compared at every index that this divides. */
const hashEvery = 4;

/** Runs one seed: a phase with faults, then one without, at whose end all must agree. Throws a `Violation`. */
export function simulate(options: SimulationOptions): SimulationResult {
  return new Simulation(options).run();
}

class Simulation {
  readonly #random: (bound: number) => number;
  readonly #queue = new EventQueue();
  readonly #invariants = new Invariants();
  readonly #faults: Faults;
  readonly #nodes = new Map<NodeId, SimulatedNode>();
  readonly #clients: SimulatedClient[] = [];
  readonly #history: Invocation[] = [];
  readonly #stepsMax: number;
  /** Whose disks may do what no crash explains: less than a majority. */
  readonly #frail: readonly NodeId[];
  readonly #isNarrow: boolean;
  readonly #aheadBytesMax: number;
  /** Links that carry nothing, `<from> <to>`. */
  #cut = new Set<string>();
  /** Links that hold back what they should carry until the time given. */
  readonly #clogged = new Map<string, number>();
  readonly #pausedUntilMs = new Map<NodeId, number>();
  #isHealed = false;
  #steps = 0;
  #nextId = 1;
  #nextValue = 1;
  #recoveries = 0;
  readonly #leaders = new Set<Term>();
  /** What waits for an answer, by id while it is being asked, and by `<node> <incarnation> <index>` once it has a place in the log. */
  readonly #asked = new Map<number, (reply: Reply) => void>();
  readonly #accepted = new Map<string, { readonly term: Term; readonly reply: (reply: Reply) => void }>();
  readonly #readKeys = new Map<number, string>();
  #acknowledged: Index = 0;
  readonly #readsSince = new Map<number, Index>();

  constructor({ seed, steps, without = [] }: SimulationOptions) {
    this.#random = seededRandom(seed);
    const faults = drawFaults(this.#random, new Set(without));
    // By the seed alone, so that what the others draw stays what it was.
    this.#faults = faults.damage !== 'none' && seed % 6 === 0 ? { ...faults, damage: 'wiped' } : faults;
    this.#isNarrow = seed % 4 === 3;
    // With half of a slot for both copies, a batch may be written beside its witness with what only the one before it has.
    if (seed % 6 === 4) this.#aheadBytesMax = slotBytes / 2;
    else this.#aheadBytesMax = seed % 3 === 0 ? 0 : slotBytes;
    this.#stepsMax = steps;
    const voterCount = this.#random(3) === 0 ? 5 : 3;
    const voters = Array.from({ length: seed % 16 === 0 ? 7 : voterCount }, (_, at) => at + 1);
    this.#frail = voters.slice(0, Math.floor((voters.length - 1) / 2));
    for (const id of voters) this.#add(id, voters);
    for (const id of [voters.length + 1, voters.length + 2]) this.#add(id, voters);
    for (let client = 0; client < clientCount; client++) this.#addClient();
  }

  #add(id: NodeId, voters: readonly NodeId[]): void {
    const node = new SimulatedNode(id, voters, {
      random: this.#random,
      later: (delayMs, run) => this.#queue.in(delayMs, () => this.#whenAwake(id, run)),
      send: (from, to, packet) => this.#send(from, to, packet),
      syncMs: () => 1 + this.#random(this.#isHealed ? 1 : this.#faults.syncMsMax),
      reportMs: () => (this.#isHealed ? 0 : this.#faults.reportMs),
      failsToWrite: () => !this.#isHealed && this.#faults.writeFailsOneIn > 0 && this.#random(this.#faults.writeFailsOneIn) === 0,
      aheadBytesMax: this.#aheadBytesMax,
      isNarrow: this.#isNarrow,
      stepped: (stepped, raft, output) => this.#stepped(stepped, raft, output),
      applied: (applied, entry, machine) => this.#applied(applied, entry, machine),
      stopped: (stopped) => this.#restartLater(stopped),
    });
    this.#nodes.set(id, node);
    this.#start(node);
    const skew = this.#faults.clockSkewPercent;
    const tickMs = (TICK_MS * (100 - skew + this.#random(2 * skew + 1))) / 100;
    this.#every(
      () => (this.#isHealed ? TICK_MS : tickMs),
      // A stopped process misses ticks; it does not make up for them.
      () => this.#isAwake(id) && this.#input(node, { type: 'tick' }),
    );
  }

  #addClient(): void {
    const client = new SimulatedClient({
      random: this.#random,
      nowMs: () => this.#queue.nowMs,
      nextValue: () => this.#nextValue++,
      later: (delayMs, run) => this.#queue.in(delayMs, run),
      ask: (node, request, reply) => this.#ask(node, request, reply),
      nodeIds: () => [...this.#nodes.keys()],
      record: (invocation) => this.#history.push(invocation),
    });
    this.#clients.push(client);
    client.start();
  }

  run(): SimulationResult {
    const faults = this.#faults;
    this.#sometimes(faults.partitionEveryMs, () => this.#partition());
    this.#sometimes(faults.clogEveryMs, () => this.#clog());
    this.#sometimes(faults.crashEveryMs, () => this.#crash(this.#anyNode()));
    this.#sometimes(faults.pauseEveryMs, () => this.#pausedUntilMs.set(this.#anyNode().id, this.#queue.nowMs + this.#random(3_000)));
    this.#sometimes(faults.changeEveryMs, () => this.#changeMembers());
    this.#sometimes(faults.compactEveryMs, () => this.#anyNode().compact(this.#random(5)));
    this.#sometimes(faults.transferEveryMs, () => this.#input(this.#someLeader(), { type: 'transfer', to: this.#anyNode().id }));
    this.#sometimes(faults.forgetEveryMs, () => this.#forgetLeader());
    if (faults.damage !== 'none') this.#sometimes(2_000, () => this.#damage());
    if (faults.damage === 'wiped')
      this.#every(
        () => 300,
        () => this.#replaceWiped(),
      );
    while (this.#steps < this.#stepsMax) this.#queue.runNext();
    this.#heal();
    this.#checkHistory();
    const refusals = [...this.#nodes.values()].filter(({ refusal }) => refusal !== undefined).length;
    const [committed, operations] = [this.#invariants.committedThrough, this.#history.length];
    return { steps: this.#steps, committed, elections: this.#leaders.size, operations, recoveries: this.#recoveries, refusals };
  }

  #every(delayMs: () => number, run: () => void): void {
    this.#queue.in(delayMs(), () => {
      run();
      this.#every(delayMs, run);
    });
  }

  #sometimes(everyMs: number, run: () => void): void {
    if (everyMs > 0)
      this.#every(
        () => 1 + this.#random(2 * everyMs),
        () => this.#isHealed || run(),
      );
  }

  #anyNode(): SimulatedNode {
    return this.#nodes.get(1 + this.#random(this.#nodes.size)) as SimulatedNode;
  }

  #input(node: SimulatedNode, input: Input): void {
    this.#steps++;
    node.step(input);
  }

  #isAwake(id: NodeId): boolean {
    return (this.#pausedUntilMs.get(id) ?? 0) <= this.#queue.nowMs;
  }

  #whenAwake(id: NodeId, run: () => void): void {
    if (this.#isAwake(id)) run();
    else this.#queue.in((this.#pausedUntilMs.get(id) ?? 0) - this.#queue.nowMs, () => this.#whenAwake(id, run));
  }

  // What clients ask

  #ask(to: NodeId, request: Request, reply: (reply: Reply) => void): void {
    const isLost = (): boolean => !this.#isHealed && this.#random(100) < this.#faults.lossPercent;
    const delayMs = (): number => 1 + this.#random(this.#isHealed ? 2 : this.#faults.delayMsMax);
    if (isLost()) return;
    const answer = (found: Reply): void => {
      if (!isLost()) this.#queue.in(delayMs(), () => reply(found));
    };
    this.#queue.in(delayMs(), () => this.#whenAwake(to, () => this.#take(this.#nodes.get(to) as SimulatedNode, request, answer)));
  }

  #take(node: SimulatedNode, request: Request, reply: (reply: Reply) => void): void {
    if (node.raft === undefined) return;
    const id = this.#nextId++;
    this.#asked.set(id, reply);
    if (request.kind === 'read') {
      this.#readsSince.set(id, this.#acknowledged);
      this.#readKeys.set(id, request.key);
      this.#input(node, { type: 'read', id });
    } else {
      this.#input(node, { type: 'propose', id, data: [encodeCommand(request.command)] });
    }
  }

  /** From the members that the leader knows, each of which may leave, be promoted or be demoted, and the others, which may join. */
  #changeMembers(): void {
    const leader = this.#someLeader();
    const { voters, learners } = leader.raft?.view.configuration ?? configurationOf([]);
    const next = { voters: [] as NodeId[], learners: [] as NodeId[] };
    for (const id of this.#nodes.keys()) {
      const votesNow = voters.includes(id);
      const votesNext = votesNow ? this.#random(4) > 0 : learners.includes(id) && this.#random(3) > 0;
      if (votesNext) next.voters.push(id);
      else if (this.#random(3) > 0) next.learners.push(id);
    }
    const times = 1 + this.#random(2);
    for (let time = 0; time < times; time++) this.#input(leader, { type: 'proposeConfiguration', id: this.#nextId++, change: next });
  }

  /** One that believes to lead, which may be an old one; any node when there is none. */
  #someLeader(): SimulatedNode {
    const leaders = [...this.#nodes.values()].filter(({ raft }) => raft?.view.role === 'leader');
    return leaders[this.#random(Math.max(1, leaders.length))] ?? this.#anyNode();
  }

  // Faults

  #send(from: NodeId, to: NodeId, packet: Packet): void {
    const { lossPercent, repeatPercent, delayMsMax } = this.#faults;
    const sender = this.#nodes.get(from) as SimulatedNode;
    if (packet.kind === 'message') this.#invariants.sent(packet.message, sender.isDurable(packet.message));
    const copies = !this.#isHealed && this.#random(100) < repeatPercent ? 2 : 1;
    const link = `${from} ${to}`;
    const bytes = encodePacket(packet);
    for (let copy = 0; copy < copies; copy++) {
      if (!this.#isHealed && this.#random(100) < lossPercent) continue;
      const delayMs = this.#isHealed ? 1 : 1 + this.#random(this.#random(50) === 0 ? 20 * delayMsMax : delayMsMax);
      const atMs = Math.max(this.#queue.nowMs + delayMs, this.#isHealed ? 0 : (this.#clogged.get(link) ?? 0));
      this.#queue.in(atMs - this.#queue.nowMs, () =>
        this.#whenAwake(to, () => this.#cut.has(link) || this.#arrive(to, decodePacket(bytes))),
      );
    }
  }

  #arrive(id: NodeId, packet: Packet) {
    const node = this.#nodes.get(id);
    if (node === undefined) return;
    if (packet.kind === 'message') return this.#input(node, { type: 'message', message: packet.message });
    this.#steps++;
    if (packet.kind === 'chunk') node.chunkArrived(packet.chunk);
    else node.chunkAnswered(packet.answer);
  }

  /** Two sides, which hear nothing of each other; now and then only one of them is deaf; now and then all is well again. */
  #partition(): void {
    this.#cut = new Set();
    if (this.#random(3) === 0) return;
    const isOneWay = this.#random(4) === 0;
    const side = new Set([...this.#nodes.keys()].filter(() => this.#random(2) === 0));
    for (const from of this.#nodes.keys())
      for (const to of this.#nodes.keys()) if (side.has(from) !== side.has(to) && (!isOneWay || side.has(from))) this.#cutLink(from, to);
  }

  /** A sender whose connection breaks knows that what it sent is lost. */
  #cutLink(from: NodeId, to: NodeId): void {
    this.#cut.add(`${from} ${to}`);
    if (this.#isAwake(from)) this.#input(this.#nodes.get(from) as SimulatedNode, { type: 'unreachable', peer: to });
  }

  #clog(): void {
    this.#clogged.set(`${this.#anyNode().id} ${this.#anyNode().id}`, this.#queue.nowMs + this.#random(4_000));
  }

  #crash(node: SimulatedNode): void {
    if (node.raft === undefined) return;
    const isFrail = this.#frail.includes(node.id);
    node.crash(isFrail && this.#faults.damage === 'tornBatch');
    if (isFrail && this.#faults.damage === 'lostSync' && this.#random(2) === 0) node.disk.loseSynced(this.#random);
    this.#restartLater(node);
  }

  #restartLater(node: SimulatedNode): void {
    this.#queue.in(20 + this.#random(this.#faults.restartMsMax), () => this.#start(node));
  }

  #start(node: SimulatedNode): void {
    if (node.raft !== undefined || node.refusal !== undefined) return;
    this.#pausedUntilMs.delete(node.id);
    node.start();
    if (node.raft && !(node.raft as Raft).view.canVote) this.#recoveries++;
  }

  /**
   * Of a disk of the minority; it is seen at the next start, which soon comes. Once until then: what stands twice is lost unnoticed when both
   * copies are damaged.
   */
  #damage() {
    const node = this.#nodes.get(this.#frail[this.#random(this.#frail.length)] ?? 0);
    if (node === undefined) return;
    if (this.#faults.damage === 'wiped') return this.#wipe(node);
    if (node.raft === undefined) return;
    if (this.#faults.damage === 'flippedBit') node.disk.flipBit(this.#random);
    if (this.#faults.damage === 'flippedWitness') node.disk.flipBitOfWitness(this.#random);
    if (this.#faults.damage === 'lostRecord') node.disk.loseRecord(this.#random);
    this.#crash(node);
  }

  /** Once, of each of the minority: the process is killed, and its directory is deleted. */
  #wipe(node: SimulatedNode): void {
    if (node.refusal !== undefined) return;
    node.crash(false);
    node.refusal = 'its disk was wiped';
  }

  /** As an operator does it: who is lost leaves, a member with a new id learns, and then votes. */
  #replaceWiped(): void {
    const leader = this.#someLeader();
    const { voters, learners } = leader.raft?.view.configuration ?? configurationOf([]);
    const isLost = (id: NodeId): boolean => this.#nodes.get(id)?.refusal !== undefined;
    const kept = voters.filter((id) => !isLost(id));
    const spare = [...this.#nodes.keys()].find((id) => !voters.includes(id) && !isLost(id));
    if (voters.length === 0) return;
    const change = (next: { readonly voters: NodeId[]; readonly learners: NodeId[] }): void =>
      this.#input(leader, { type: 'proposeConfiguration', id: this.#nextId++, change: next });
    if (kept.length < voters.length) change({ voters: kept, learners: spare === undefined ? [] : [spare] });
    else if (learners.length > 0) change({ voters: [...voters, ...learners], learners: [] });
  }

  #forgetLeader(): void {
    const node = this.#anyNode();
    const suspect = node.raft?.view.leader ?? 0;
    if (suspect !== 0) this.#input(node, { type: 'forgetLeader', suspect });
  }

  // What nodes do

  #stepped(node: SimulatedNode, raft: Raft, { write, committed, reads, accepted, refused }: Output): void {
    const owner = `${node.id} ${node.incarnation}`;
    if (raft.view.role === 'leader') this.#leaders.add(raft.view.term);
    for (const { id, index, term } of accepted) {
      const reply = this.#asked.get(id);
      this.#asked.delete(id);
      this.#accepted.set(`${owner} ${index}`, { term, reply: reply ?? (() => undefined) });
    }
    for (const { id, leader } of refused) this.#answer(id, { kind: 'refused', leader });
    this.#invariants.stepped(raft, node.incarnation, write?.entries ?? [], committed);
    for (const { id, index } of reads) {
      this.#invariants.readAllowed(index, this.#readsSince.get(id) ?? 0);
      if (node.machine.applied < index) throw new Violation(`node ${node.id} may read at ${index} and has applied ${node.machine.applied}`);
      this.#answer(id, { kind: 'value', value: node.machine.read(this.#readKeys.get(id) ?? '') });
    }
    if (raft.leadership && raft.leadership.readsWaiting > 16) throw new Violation(`node ${node.id} lets too many reads wait`);
  }

  #answer(id: number, reply: Reply): void {
    this.#asked.get(id)?.(reply);
    this.#asked.delete(id);
    this.#readKeys.delete(id);
    this.#readsSince.delete(id);
  }

  #applied(node: SimulatedNode, entry: Entry, machine: StateMachine): void {
    const applied = machine.apply(entry);
    if (entry.index % hashEvery === 0) this.#invariants.applied(node.id, entry.index, machine.hash());
    const key = `${node.id} ${node.incarnation} ${entry.index}`;
    const accepted = this.#accepted.get(key);
    this.#accepted.delete(key);
    if (accepted?.term !== entry.term) return;
    this.#acknowledged = Math.max(this.#acknowledged, entry.index);
    if (applied) accepted.reply({ kind: 'applied', applied });
  }

  // Afterwards

  /** Without faults there is soon one leader, its members agree with it, and what clients ask is answered. */
  #heal(): void {
    this.#isHealed = true;
    this.#cut = new Set();
    this.#pausedUntilMs.clear();
    for (const node of this.#nodes.values()) this.#start(node);
    const untilMs = this.#queue.nowMs + HEALED_MS_MAX;
    const answered = this.#clients.map((client) => client.answered);
    while (this.#clients.some((client, at) => client.answered <= (answered[at] ?? 0)) || !this.#agrees()) {
      if (this.#queue.nowMs > untilMs)
        throw new Violation(`liveness: no agreement ${HEALED_MS_MAX / 1000} s after the last fault: ${this.#describe()}`);
      this.#queue.runNext();
    }
  }

  #describe(): string {
    return [...this.#nodes.values()].map(({ id, raft, refusal }) => `${id}: ${raft ? describe(raft) : (refusal ?? 'down')}`).join('; ');
  }

  #agrees(): boolean {
    const rafts = [...this.#nodes.values()].flatMap(({ raft }) => (raft ? [raft] : []));
    const terms = rafts.filter(({ view }) => view.role === 'leader').map(({ view }) => view.term);
    const leader = rafts.find(({ view }) => view.role === 'leader' && view.term === Math.max(...terms));
    if (leader === undefined) return false;
    const { log, configuration, configurationIndex, term } = leader.view;
    // Joint consensus ends by itself, and nobody leads a group of which it is no voter.
    if (configuration.outgoing.length > 0 || configurationIndex > log.commit || !configuration.voters.includes(leader.view.id))
      return false;
    if (membersOf(configuration).some((id) => this.#nodes.get(id)?.refusal === 'its disk was wiped')) return false;
    const members = rafts.filter(({ view }) => membersOf(configuration).includes(view.id));
    return (
      log.termAt(log.commit) === term &&
      members.every(({ view }) => view.canVote && view.term === term && view.log.commit >= log.commit - 8)
    );
  }

  #checkHistory(): void {
    for (const client of this.#clients) client.end();
    const verdict = checkLinearizable(this.#history);
    if (verdict.kind !== 'linearizable') throw new Violation(`linearizability: ${verdict.kind} for key ${verdict.key}`);
  }
}

function describe({ view }: Raft): string {
  const { role, term, log, recovering } = view;
  const loss = recovering ? ` recovering ${recovering.index} of term ${recovering.term}` : '';
  return `${role} in ${term}, committed ${log.commit} of ${log.baseIndex}..${log.lastIndex}${loss}`;
}
