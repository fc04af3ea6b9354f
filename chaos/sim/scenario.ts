import type { Entry, Input, NodeId, Output } from '../../coordinator/raft/core/messages.ts';
import type { Packet } from '../../coordinator/raft/transport/packet.ts';
import { slotBytes } from './disk.ts';
import { Invariants } from './invariants.ts';
import { electionTicks, SimulatedNode, saveMs } from './node.ts';

/**
 * Runs a scenario: a text in which each line that begins with `>` is a command and the lines below it, up to an empty one, are what it
 * prints. Returns the text with what is printed now. Nothing happens by itself: messages and writes wait until a command lets them go, so
 * that a situation is described exactly. Throws a `Violation` when a law does not hold.
 */
export function runScenario(text: string): string {
  const scenario = new Scenario();
  const out: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('#')) out.push(line);
    if (line === '' && out.at(-1) !== '') out.push('');
    if (!line.startsWith('>')) continue;
    out.push(line);
    out.push(...scenario.run(line.slice(1).trim().split(/\s+/)));
  }
  return `${out.join('\n').trimEnd()}\n`;
}

interface InFlight {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly packet: Packet;
}

/** Rounds of `settle`; a group that goes on talking for longer is broken. */
const roundsMax = 500;
/** Any but 0, which is the time of a write, and that of what the database is given later. */
const reportMs = 1;

class Scenario {
  readonly #nodes = new Map<NodeId, SimulatedNode>();
  readonly #invariants = new Invariants();
  #inFlight: InFlight[] = [];
  /** What waits for the disk of a node. */
  readonly #writes = new Map<NodeId, (() => void)[]>();
  /** What is durable, and the core of a node is not told yet. */
  readonly #reports = new Map<NodeId, (() => void)[]>();
  /** What the witness has is to be given to the database of a node. */
  readonly #saves = new Map<NodeId, (() => void)[]>();
  readonly #held = new Set<NodeId>();
  readonly #withheld = new Set<NodeId>();
  readonly #deferred = new Set<NodeId>();
  #printed: string[] = [];
  #nextId = 1;

  run([name = '', ...words]: readonly string[]): string[] {
    this.#printed = [];
    const [first = 0, second = 0] = words.map(Number);
    const commands: Readonly<Record<string, () => void>> = {
      nodes: () => this.#add(words.map(Number)),
      tick: () => this.#tick(first, second),
      campaign: () => this.#campaign(first),
      settle: () => this.#settle(words.length === 0 ? [...this.#nodes.keys()] : words.map(Number)),
      deliver: () => this.#deliver(first, second, words[2]),
      repeat: () => this.#inFlight.push(...this.#inFlight.filter((sent) => sent.from === first && sent.to === second)),
      drop: () => this.#drop(words.map(Number)),
      propose: () => this.#input(first, { type: 'propose', id: this.#nextId++, data: [new TextEncoder().encode(words[1])] }),
      read: () => this.#input(first, { type: 'read', id: this.#nextId++ }),
      change: () => this.#change(first, words.slice(1)),
      transfer: () => this.#input(first, { type: 'transfer', to: second }),
      forget: () => this.#input(first, { type: 'forgetLeader', suspect: this.#node(first).raft?.view.leader ?? 0 }),
      crash: () => this.#crash(first),
      start: () => this.#node(first).start(),
      hold: () => this.#held.add(first),
      release: () => this.#held.delete(first),
      withhold: () => this.#withheld.add(first),
      report: () => this.#withheld.delete(first),
      defer: () => this.#deferred.add(first),
      save: () => this.#deferred.delete(first),
      elect: () => this.#elect(first, words.slice(1).map(Number)),
      compact: () => this.#node(first).compact(second),
      lose: () => this.#node(first).disk.loseBatches(second),
      flip: () => this.#node(first).disk.flipBitOfNewestWitness((bound) => bound - 1),
      show: () => this.#show(words.length === 0 ? [...this.#nodes.keys()] : words.map(Number)),
      messages: () => this.#print(...this.#inFlight.map(describePacket)),
    };
    const command = commands[name];
    if (command === undefined) throw new Error(`no command is called '${name}'; there are ${Object.keys(commands).join(', ')}`);
    command();
    return this.#printed;
  }

  #print(...lines: string[]): void {
    this.#printed.push(...lines);
  }

  #node(id: NodeId): SimulatedNode {
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Error(`there is no node ${id}`);
    return node;
  }

  #add(ids: readonly NodeId[]): void {
    const voters = this.#nodes.size === 0 ? ids : ([...this.#nodes.values()][0] as SimulatedNode).identity.voters;
    for (const id of ids) {
      const node = new SimulatedNode(id, voters, {
        // Never the least: no timeout is short, and nothing that is on its way in a crash arrives.
        random: (bound) => bound - 1,
        later: (delayMs, run) => this.#queueOf(delayMs)?.get(id)?.push(run),
        send: (from, to, packet) => this.#send(from, to, packet),
        syncMs: () => 0,
        reportMs: () => reportMs,
        failsToWrite: () => false,
        aheadBytesMax: slotBytes,
        isNarrow: false,
        stepped: (stepped, raft, { write, committed, ...output }) => {
          this.#invariants.stepped(raft, stepped.incarnation, write?.entries ?? [], committed);
          this.#tell(stepped, output);
        },
        applied: (_, entry, machine) => {
          machine.applied = entry.index;
        },
        stopped: () => undefined,
      });
      this.#nodes.set(id, node);
      this.#writes.set(id, []);
      this.#reports.set(id, []);
      this.#saves.set(id, []);
      node.start();
    }
  }

  #queueOf(delayMs: number) {
    return new Map([
      [0, this.#writes],
      [reportMs, this.#reports],
      [saveMs, this.#saves],
    ]).get(delayMs);
  }

  #tell({ id }: SimulatedNode, { reads, refused, sendSnapshot }: Pick<Output, 'reads' | 'refused' | 'sendSnapshot'>): void {
    for (const read of reads) this.#print(`${id} may answer the read at ${read.index}`);
    for (const { reason } of refused) this.#print(`${id} refuses: ${reason}`);
    for (const to of sendSnapshot) this.#print(`${id} sends a snapshot to ${to}`);
  }

  #send(from: NodeId, to: NodeId, packet: Packet): void {
    if (packet.kind === 'message') this.#invariants.sent(packet.message, this.#node(from).isDurable(packet.message));
    this.#inFlight.push({ from, to, packet });
  }

  #input(id: NodeId, input: Input): void {
    this.#node(id).step(input);
  }

  #tick(id: NodeId, count: number): void {
    for (let tick = 0; tick < count; tick++) this.#input(id, { type: 'tick' });
  }

  /** Lets the time pass until it asks for an election. */
  #campaign(id: NodeId): void {
    for (let tick = 0; tick < 3 * electionTicks && this.#node(id).raft?.view.role === 'follower'; tick++) this.#tick(id, 1);
    this.#print(`${id} is ${this.#node(id).raft?.view.role ?? 'down'}`);
  }

  /** By these others, who have not heard of a leader for long. What it sends as a leader, and what else was said meanwhile, is lost. */
  #elect(id: NodeId, voters: readonly NodeId[]): void {
    const before = this.#inFlight;
    for (const voter of voters) this.#tick(voter, electionTicks);
    for (let attempt = 0; attempt < 3 && this.#node(id).raft?.view.role !== 'leader'; attempt++) {
      this.#inFlight = [];
      for (let tick = 0; tick < 3 * electionTicks && !this.#asksFor(id); tick++) this.#tick(id, 1);
      this.#settle([id, ...voters], (packet) => typeOf(packet).startsWith('vote') && this.#node(id).raft?.view.role !== 'leader');
    }
    this.#inFlight = before;
    this.#print(`${id} is ${this.#node(id).raft?.view.role ?? 'down'}`);
  }

  #asksFor(id: NodeId): boolean {
    return this.#inFlight.some(({ from, packet }) => from === id && typeOf(packet) === 'voteRequest');
  }

  #crash(id: NodeId): void {
    this.#node(id).crash(false);
    this.#writes.set(id, []);
    this.#reports.set(id, []);
    this.#saves.set(id, []);
  }

  /** What is written is written and what is sent arrives, between these nodes, until nothing moves. */
  #settle(ids: readonly NodeId[], isMoving: (packet: Packet) => boolean = () => true): void {
    for (let round = 0; ; round++) {
      if (round === roundsMax) throw new Error(`nodes ${ids.join(', ')} do not settle`);
      const isMoved = this.#write(ids);
      const here = this.#inFlight.findIndex(({ from, to, packet }) => ids.includes(from) && ids.includes(to) && isMoving(packet));
      const [found] = here < 0 ? [] : this.#inFlight.splice(here, 1);
      if (found) this.#arrive(found);
      else if (!isMoved) return;
    }
  }

  #write(ids: readonly NodeId[]): boolean {
    let isMoved = false;
    for (const id of ids) {
      for (const [queues, stopped] of [
        [this.#writes, this.#held],
        [this.#reports, this.#withheld],
        [this.#saves, this.#deferred],
      ] as const) {
        const waiting = queues.get(id) ?? [];
        while (waiting.length > 0 && !stopped.has(id)) {
          waiting.shift()?.();
          isMoved = true;
        }
      }
    }
    return isMoved;
  }

  #deliver(from: NodeId, to: NodeId, type?: string): void {
    const found = this.#inFlight.filter(
      (sent) => sent.from === from && sent.to === to && (type === undefined || typeOf(sent.packet) === type),
    );
    this.#inFlight = this.#inFlight.filter((sent) => !found.includes(sent));
    for (const sent of found) this.#arrive(sent);
    this.#write([to]);
  }

  /** All, or what is on its way to or from these nodes. */
  #drop(ids: readonly NodeId[]): void {
    this.#inFlight = this.#inFlight.filter(({ from, to }) => ids.length > 0 && !ids.includes(from) && !ids.includes(to));
  }

  #arrive({ to, packet }: InFlight): void {
    const node = this.#nodes.get(to);
    if (packet.kind === 'message') node?.step({ type: 'message', message: packet.message });
    else if (packet.kind === 'chunk') node?.chunkArrived(packet.chunk);
    else node?.chunkAnswered(packet.answer);
  }

  #change(id: NodeId, words: readonly string[]): void {
    const at = words.indexOf('learners');
    const voters = (at < 0 ? words : words.slice(0, at)).map(Number);
    const learners = at < 0 ? [] : words.slice(at + 1).map(Number);
    this.#input(id, { type: 'proposeConfiguration', id: this.#nextId++, change: { voters, learners } });
  }

  #show(ids: readonly NodeId[]): void {
    for (const id of ids) this.#print(this.#describe(this.#node(id)));
  }

  #describe({ id, raft, refusal }: SimulatedNode): string {
    if (raft === undefined) return `${id}: down${refusal ? `, ${refusal}` : ''}`;
    const { role, term, log, configuration, recovering } = raft.view;
    const entries = log
      .slice(log.baseIndex + 1, log.lastIndex)
      .map((entry) => `${describeEntry(entry)}${entry.index === log.commit ? ' |' : ''}`);
    const base = log.baseIndex > 0 ? [`..${log.baseIndex}${log.commit === log.baseIndex ? ' |' : ''}`] : log.commit === 0 ? ['|'] : [];
    const { voters, outgoing, learners } = configuration;
    const members = `${voters.join(' ')}${outgoing.length > 0 ? ` and ${outgoing.join(' ')}` : ''}${learners.length > 0 ? `, learners ${learners.join(' ')}` : ''}`;
    return `${id}: ${role} in term ${term}${recovering ? ', recovering' : ''}, members ${members}, log ${[...base, ...entries].join(' ')}`;
  }
}

/** `<term>-` for a no-op, `<term>=` for a change of configuration, `<term><text>` for a command. */
function describeEntry({ term, kind, data }: Entry): string {
  return `${term}${kind === 'noop' ? '-' : kind === 'configuration' ? '=' : new TextDecoder().decode(data)}`;
}

function typeOf(packet: Packet): string {
  return packet.kind === 'message' ? packet.message.type : packet.kind;
}

function describePacket({ from, to, packet }: InFlight): string {
  return `${from} to ${to}: ${typeOf(packet)}${packet.kind === 'message' ? ` of term ${packet.message.term}` : ''}`;
}
