import { configurationOf, membersOf } from '../../coordinator/raft/core/configuration.ts';
import type { Index, Input, Message, NodeId, Output, Term } from '../../coordinator/raft/core/messages.ts';
import type { Raft } from '../../coordinator/raft/core/raft.ts';
import { EventQueue, seededRandom } from './event-queue.ts';
import { Invariants, Violation } from './invariants.ts';
import { electionTicks, SimulatedNode } from './node.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Inputs to nodes while there are faults. */
  readonly steps: number;
}

export interface SimulationResult {
  readonly steps: number;
  readonly committed: number;
  readonly elections: number;
}

const TICK_MS = 50;
/** Twenty of the longest election timeouts. */
const HEALED_MS_MAX = 20 * 2 * electionTicks * TICK_MS;

/** Faults of one run. Each seed draws some of them, since runs with all of them rarely get anywhere (swarm testing). */
interface Faults {
  readonly lossPercent: number;
  readonly repeatPercent: number;
  readonly delayMsMax: number;
  readonly partitionEveryMs: number;
  readonly crashEveryMs: number;
  readonly restartMsMax: number;
  readonly syncMsMax: number;
  readonly changeEveryMs: number;
  readonly compactEveryMs: number;
  readonly transferEveryMs: number;
}

function drawFaults(random: (bound: number) => number): Faults {
  const isHarsh = random(3) === 0;
  const some = (value: () => number): number => (random(2) === 0 ? 0 : value());
  return {
    lossPercent: some(() => random(31)),
    repeatPercent: some(() => random(51)),
    delayMsMax: 1 + random(isHarsh ? 300 : 50),
    partitionEveryMs: some(() => (isHarsh ? 50 + random(400) : 1_000 + random(5_000))),
    crashEveryMs: some(() => (isHarsh ? 50 + random(400) : 1_000 + random(5_000))),
    restartMsMax: isHarsh ? 140 : 2_000,
    syncMsMax: 1 + some(() => random(isHarsh ? 300 : 50)),
    changeEveryMs: some(() => 200 + random(1_500)),
    compactEveryMs: some(() => 200 + random(2_000)),
    transferEveryMs: some(() => 500 + random(3_000)),
  };
}

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
  readonly #stepsMax: number;
  /** Links that carry nothing, `<from> <to>`. */
  #cut = new Set<string>();
  #isHealed = false;
  #steps = 0;
  #nextId = 1;
  readonly #leaders = new Set<Term>();
  /** Proposals by node and incarnation, to see whose commit is told to a client. */
  readonly #proposed = new Map<string, Term>();
  #acknowledged: Index = 0;
  readonly #readsSince = new Map<number, Index>();

  constructor({ seed, steps }: SimulationOptions) {
    this.#random = seededRandom(seed);
    this.#faults = drawFaults(this.#random);
    this.#stepsMax = steps;
    const voters = Array.from({ length: this.#random(3) === 0 ? 5 : 3 }, (_, at) => at + 1);
    for (const id of voters) this.#add(id, voters);
    for (const id of [voters.length + 1, voters.length + 2]) this.#add(id, voters);
  }

  #add(id: NodeId, voters: readonly NodeId[]): void {
    const node = new SimulatedNode(id, voters, {
      random: this.#random,
      later: (delayMs, run) => this.#queue.in(delayMs, run),
      send: (message) => this.#send(message),
      syncMs: () => 1 + this.#random(this.#isHealed ? 1 : this.#faults.syncMsMax),
      stepped: (stepped, raft, output) => this.#stepped(stepped, raft, output),
    });
    this.#nodes.set(id, node);
    node.start();
    const tickMs = (TICK_MS * (50 + this.#random(100))) / 100;
    this.#every(
      () => (this.#isHealed ? TICK_MS : tickMs),
      () => this.#input(node, { type: 'tick' }),
    );
  }

  run(): SimulationResult {
    const { partitionEveryMs, crashEveryMs, changeEveryMs, compactEveryMs, transferEveryMs } = this.#faults;
    this.#every(
      () => 5 + this.#random(50),
      () => this.#work(),
    );
    this.#sometimes(partitionEveryMs, () => this.#partition());
    this.#sometimes(crashEveryMs, () => this.#crash());
    this.#sometimes(changeEveryMs, () => this.#changeMembers());
    this.#sometimes(compactEveryMs, () => this.#anyNode().compact(this.#random(5)));
    this.#sometimes(transferEveryMs, () => this.#input(this.#someLeader(), { type: 'transfer', to: this.#anyNode().id }));
    while (this.#steps < this.#stepsMax) this.#queue.runNext();
    this.#heal();
    return { steps: this.#steps, committed: this.#invariants.committedThrough, elections: this.#leaders.size };
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

  // What clients ask

  #work() {
    const node = this.#random(4) > 0 ? this.#someLeader() : this.#anyNode();
    const id = this.#nextId++;
    if (this.#random(3) > 0) {
      const data = Array.from({ length: 1 + this.#random(3) }, (_, at) => Uint8Array.of(id >> 16, id >> 8, id, at));
      return this.#input(node, { type: 'propose', id, data });
    }
    this.#readsSince.set(id, this.#acknowledged);
    this.#input(node, { type: 'read', id });
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

  #send(message: Message): void {
    const { lossPercent, repeatPercent, delayMsMax } = this.#faults;
    const sender = this.#nodes.get(message.from) as SimulatedNode;
    this.#invariants.sent(message, sender.durableIndex);
    const copies = !this.#isHealed && this.#random(100) < repeatPercent ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (!this.#isHealed && this.#random(100) < lossPercent) continue;
      const delayMs = this.#isHealed ? 1 : 1 + this.#random(this.#random(50) === 0 ? 20 * delayMsMax : delayMsMax);
      this.#queue.in(delayMs, () => {
        const to = this.#nodes.get(message.to);
        if (to && !this.#cut.has(`${message.from} ${message.to}`)) this.#input(to, { type: 'message', message });
      });
    }
  }

  /** Two sides, which hear nothing of each other; now and then only one of them is deaf; now and then all is well again. */
  #partition(): void {
    this.#cut = new Set();
    if (this.#random(3) === 0) return;
    const isOneWay = this.#random(4) === 0;
    const side = new Set([...this.#nodes.keys()].filter(() => this.#random(2) === 0));
    for (const from of this.#nodes.keys())
      for (const to of this.#nodes.keys())
        if (side.has(from) !== side.has(to) && (!isOneWay || side.has(from))) this.#cut.add(`${from} ${to}`);
  }

  #crash(): void {
    const node = this.#anyNode();
    if (node.raft === undefined) return;
    node.crash();
    this.#queue.in(20 + this.#random(this.#faults.restartMsMax), () => node.raft === undefined && node.start());
  }

  // What nodes do

  #stepped(node: SimulatedNode, raft: Raft, { write, committed, reads, accepted }: Output): void {
    const owner = `${node.id} ${node.incarnation}`;
    if (raft.view.role === 'leader') this.#leaders.add(raft.view.term);
    for (const { index, term } of accepted) this.#proposed.set(`${owner} ${index}`, term);
    this.#invariants.stepped(raft, write?.entries ?? [], committed);
    for (const { index, term } of committed)
      if (this.#proposed.get(`${owner} ${index}`) === term) this.#acknowledged = Math.max(this.#acknowledged, index);
    for (const { id, index } of reads) this.#invariants.readAllowed(index, this.#readsSince.get(id) ?? 0);
    if (raft.leadership && raft.leadership.readsWaiting > 16) throw new Violation(`node ${node.id} lets too many reads wait`);
  }

  // Afterwards

  /** Without faults there is soon one leader, its members agree with it, and what is proposed is committed. */
  #heal(): void {
    this.#isHealed = true;
    this.#cut = new Set();
    for (const node of this.#nodes.values()) if (node.raft === undefined) node.start();
    const untilMs = this.#queue.nowMs + HEALED_MS_MAX;
    while (!this.#agrees()) {
      if (this.#queue.nowMs > untilMs) throw new Violation(`liveness: no agreement ${HEALED_MS_MAX / 1000} s after the last fault`);
      this.#queue.runNext();
    }
  }

  #agrees(): boolean {
    const rafts = [...this.#nodes.values()].flatMap(({ raft }) => (raft ? [raft] : []));
    const terms = rafts.filter(({ view }) => view.role === 'leader').map(({ view }) => view.term);
    const leader = rafts.find(({ view }) => view.role === 'leader' && view.term === Math.max(...terms));
    if (leader === undefined) return false;
    const { log, configuration, term } = leader.view;
    // Joint consensus ends by itself, and nobody leads a group of which it is no voter.
    if (configuration.outgoing.length > 0 || !configuration.voters.includes(leader.view.id)) return false;
    const members = rafts.filter(({ view }) => membersOf(configuration).includes(view.id));
    return (
      log.commit === log.lastIndex &&
      log.lastTerm === term &&
      members.every(({ view }) => view.log.commit === log.commit && view.term === term)
    );
  }
}
