import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { vi } from 'vitest';
import { checkLinearizable, type Invocation, type Verdict } from '../../../chaos/linearizability/checker.ts';
import { type Reply, type Request, SimulatedClient } from '../../../chaos/sim/client.ts';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import type { RaftPeer } from '../../../coordinator/raft/group.ts';
import { type BuiltProgram, buildProgram } from '../built-program.ts';
import { wait } from './group.ts';
import { groupKey } from './local-peers.ts';
import type { Question, Said } from './member-process.ts';

type Unnumbered<Q> = Q extends unknown ? Omit<Q, 'id'> : never;
type Answer = Extract<Said, { kind: 'answer' | 'refused' }>;

/** A member in a process of its own. */
export class MemberProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  isStarted = false;
  role = 'follower';
  term = 0;
  stderr = '';
  /** Messages of its log. */
  readonly lines: string[] = [];
  readonly #answers = new Map<number, (answer: Answer) => void>();
  #nextId = 1;

  constructor({ path }: BuiltProgram, options: object, environment: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [path, JSON.stringify(options)], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      env: { ...process.env, ...environment },
    });
    this.ended = once(this.child, 'exit').then(([code]) => code as number | null);
    this.child.stderr?.on('data', (piece: Buffer) => {
      this.stderr += piece.toString();
    });
    this.child.on('message', (said: Said) => this.#take(said));
    // A question to a process that is gone has no answer.
    this.child.on('error', () => undefined);
  }

  #take(said: Said): void {
    if (said.kind === 'started') this.isStarted = true;
    if (said.kind === 'event') this.lines.push(said.message);
    if (said.kind === 'status') {
      this.role = said.role;
      this.term = said.term;
    }
    if (said.kind !== 'answer' && said.kind !== 'refused') return;
    this.#answers.get(said.id)?.(said);
    this.#answers.delete(said.id);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null && this.child.connected;
  }

  /** The answer may never come. */
  ask(question: Unnumbered<Question>, answered: (answer: Answer) => void = () => undefined): void {
    if (!this.isRunning) return;
    const id = this.#nextId++;
    this.#answers.set(id, answered);
    this.child.send({ ...question, id }, () => undefined);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** A group of processes, and clients that read and write registers all the time and keep a history of what they were told. */
export class ProcessGroup {
  readonly members = new Map<number, MemberProcess>();
  readonly history: Invocation[] = [];
  readonly #folder: string;
  readonly #peers: readonly RaftPeer[];
  readonly #clients: SimulatedClient[] = [];
  #program: Promise<BuiltProgram> | undefined;
  readonly #tickMs: number;
  #nextValue = 1;
  #isOver = false;

  constructor(folder: string, peers: readonly RaftPeer[], tickMs: number) {
    this.#folder = folder;
    this.#peers = peers;
    this.#tickMs = tickMs;
  }

  get ids(): number[] {
    return this.#peers.map(({ id }) => id);
  }

  /** Answers of all clients so far. */
  get answered(): number {
    return this.#clients.reduce((sum, { answered }) => sum + answered, 0);
  }

  folderOf(id: number): string {
    return join(this.#folder, String(id));
  }

  async start(id: number, { environment = {}, dataDir = this.folderOf(id) } = {}): Promise<MemberProcess> {
    const { port, host } = this.#peers.find((peer) => peer.id === id) as RaftPeer;
    const options = { clusterId: 'cluster', nodeId: id, peers: this.#peers, listen: { host, port }, key: groupKey };
    this.#program ??= buildProgram('test/integration/raft/member-process.ts');
    const more = { dataDir, timers: { tickMs: this.#tickMs }, snapshotEntries: 500 };
    const member = new MemberProcess(await this.#program, { ...options, ...more }, environment);
    this.members.set(id, member);
    await vi.waitFor(() => {
      if (!member.isStarted && member.isRunning) throw new Error(`member ${id} has not started`);
    }, wait);
    return member;
  }

  /** The member that leads in the newest term. */
  leader(): Promise<number> {
    return vi.waitFor(() => {
      const leaders = [...this.members].filter(([, { isRunning, role }]) => isRunning && role === 'leader');
      const [newest] = leaders.sort(([, a], [, b]) => b.term - a.term);
      if (newest === undefined) throw new Error('nobody leads');
      return newest[0];
    }, wait);
  }

  startClients(count: number): void {
    for (let client = 0; client < count; client++) {
      const random = seededRandom(client + 1);
      const made = new SimulatedClient({
        random,
        nowMs: () => performance.now(),
        nextValue: () => this.#nextValue++,
        later: (delayMs, run) => {
          if (!this.#isOver) setTimeout(() => this.#isOver || run(), delayMs);
        },
        ask: (node, request, reply) => this.#ask(node, request, reply),
        nodeIds: () => this.ids,
        record: (invocation) => this.history.push(invocation),
      });
      this.#clients.push(made);
      made.start();
    }
  }

  #ask(node: number, request: Request, reply: (reply: Reply) => void): void {
    this.members.get(node)?.ask(request, (answer) => {
      if (this.#isOver) return;
      if (answer.kind === 'refused') {
        if (!answer.mayHaveHappened) reply({ kind: 'refused', leader: answer.leader });
      } else if (request.kind === 'read') reply({ kind: 'value', value: answer.answer as number });
      else reply({ kind: 'applied', applied: answer.answer as Extract<Reply, { kind: 'applied' }>['applied'] });
    });
  }

  /** Waits until clients have had so many more answers. */
  async progress(count: number): Promise<void> {
    const until = this.answered + count;
    await vi.waitFor(() => {
      if (this.answered < until) throw new Error(`clients had ${this.answered} answers, and not ${until}`);
    }, wait);
  }

  /** Ends the clients; what they were told fits one order of everything, or not. */
  verdict(): Verdict {
    this.#isOver = true;
    for (const client of this.#clients) client.end();
    return checkLinearizable(this.history);
  }

  async stopAll(): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.members.values()].map((member) => member.isRunning && member.kill()));
    (await this.#program)?.remove();
  }
}
