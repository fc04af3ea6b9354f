import type { NodeId } from '../../coordinator/raft/core/messages.ts';
import type { Invocation, RegisterOperation } from '../linearizability/checker.ts';
import type { Applied, Command } from './state-machine.ts';

/** What a node is asked. */
export type Request = { readonly kind: 'propose'; readonly command: Command } | { readonly kind: 'read'; readonly key: string };

export type Reply =
  | { readonly kind: 'applied'; readonly applied: Applied }
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'refused'; readonly leader: NodeId };

export interface ClientSurroundings {
  readonly random: (bound: number) => number;
  readonly nowMs: () => number;
  /** Never the same twice. */
  readonly nextValue: () => number;
  readonly later: (delayMs: number, run: () => void) => void;
  /** The reply may come, or never, or more than once. */
  readonly ask: (node: NodeId, request: Request, reply: (reply: Reply) => void) => void;
  readonly nodeIds: () => readonly NodeId[];
  readonly record: (invocation: Invocation) => void;
}

const keyNames = ['a', 'b', 'c'];

/** Asks for one thing after another, and for each until it is answered, as the same command of the same session. */
export class SimulatedClient {
  readonly #world: ClientSurroundings;
  #session: number | undefined;
  #seq = 0;
  #lowest = 1;
  #leader: NodeId = 0;
  /** Of what is asked now; answers to what was asked before are of no interest. */
  #asking = 0;
  #calledAt = 0;
  answered = 0;
  /** A read or write that was begun and is not answered, for the end of the history. */
  #open: Invocation | undefined;

  constructor(world: ClientSurroundings) {
    this.#world = world;
  }

  start(): void {
    this.#world.later(1 + this.#world.random(100), () => this.#next());
  }

  /** What is not answered at the end may have happened. */
  end(): void {
    this.#recordOpen();
  }

  #recordOpen(): void {
    if (this.#open && this.#open.operation.kind !== 'read') this.#world.record(this.#open);
    this.#open = undefined;
  }

  #next() {
    const { random } = this.#world;
    this.#asking++;
    this.#calledAt = this.#world.nowMs();
    if (this.#session === undefined) return this.#ask({ kind: 'propose', command: { kind: 'register' } }, undefined);
    const key = keyNames[random(keyNames.length)] as string;
    const choice = random(5);
    if (choice < 2) return this.#ask({ kind: 'read', key }, { kind: 'read', result: 0 });
    this.#seq++;
    const session = { client: this.#session, seq: this.#seq, lowestUnacknowledged: this.#lowest };
    const value = this.#world.nextValue();
    if (choice < 4) return this.#ask({ kind: 'propose', command: { kind: 'write', session, key, value } }, { kind: 'write', value });
    const expected = Math.max(0, value - 1 - random(4));
    const operation = { kind: 'compareAndSet', expected, value, result: undefined } as const;
    this.#ask({ kind: 'propose', command: { kind: 'compareAndSet', session, key, expected, value } }, operation);
  }

  #ask(request: Request, operation: RegisterOperation | undefined): void {
    const key = request.kind === 'read' ? request.key : 'key' in request.command ? request.command.key : '';
    this.#open = operation && { key, operation, calledAt: this.#calledAt, returnedAt: undefined };
    this.#try(request, this.#asking);
  }

  #try(request: Request, asking: number): void {
    if (asking !== this.#asking) return;
    const { random, later, ask, nodeIds } = this.#world;
    const ids = nodeIds();
    const to = this.#leader !== 0 && random(8) > 0 ? this.#leader : (ids[random(ids.length)] as NodeId);
    let isRefused = false;
    ask(to, request, (reply) => {
      if (asking !== this.#asking) return;
      if (reply.kind !== 'refused') return this.#answer(reply);
      if (isRefused) return;
      isRefused = true;
      this.#leader = reply.leader;
    });
    later(100 + random(400), () => {
      if (!isRefused && asking === this.#asking) this.#leader = 0;
      this.#try(request, asking);
    });
  }

  #answer(reply: Exclude<Reply, { kind: 'refused' }>): void {
    const open = this.#open;
    const returnedAt = this.#world.nowMs();
    this.answered++;
    if (reply.kind === 'value') {
      if (open) this.#world.record({ ...open, operation: { kind: 'read', result: reply.value }, returnedAt });
    } else if (reply.applied.kind === 'registered') {
      this.#session = reply.applied.client;
      this.#seq = 0;
      this.#lowest = 1;
    } else if (reply.applied.kind === 'expired') {
      // Nobody knows whether it happened.
      this.#recordOpen();
      this.#session = undefined;
    } else {
      this.#lowest = this.#seq + 1;
      if (open) this.#world.record({ ...open, operation: answeredOperation(open.operation, reply.applied.result), returnedAt });
    }
    this.#open = undefined;
    this.#asking++;
    this.#world.later(1 + this.#world.random(40), () => this.#next());
  }
}

function answeredOperation(operation: RegisterOperation, result: boolean): RegisterOperation {
  return operation.kind === 'compareAndSet' ? { ...operation, result } : operation;
}
