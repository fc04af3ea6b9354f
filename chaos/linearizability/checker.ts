/**
 * What a client asked of one register, and what it was told. Registers are 0 at first. `replace` sets a register that is not 0, with the
 * result true, and leaves one that is 0 alone, with the result false.
 */
export type RegisterOperation =
  | { readonly kind: 'read'; readonly result: number }
  | { readonly kind: 'write'; readonly value: number }
  | { readonly kind: 'compareAndSet'; readonly expected: number; readonly value: number; readonly result: boolean | undefined }
  | { readonly kind: 'replace'; readonly value: number; readonly result: boolean | undefined };

export interface Invocation {
  readonly key: string;
  readonly operation: RegisterOperation;
  readonly calledAt: number;
  /** Undefined when the client was never told: it may have happened at any time since, or never. Reads without an answer are left out. */
  readonly returnedAt: number | undefined;
}

/** `unknown`: the limit of work was reached first. */
export type Verdict =
  | { readonly kind: 'linearizable' }
  | { readonly kind: 'violation'; readonly key: string }
  | { readonly kind: 'unknown'; readonly key: string };

/** Steps of the search per key. */
const workMaxDefault = 2_000_000;

/**
 * Whether there is an order of all operations, each at one moment between its call and its return, in which every answer is right. Keys
 * are independent, so each is decided by itself (Herlihy and Wing 1990, locality; Horn and Kroening 2015).
 */
export function checkLinearizable(history: readonly Invocation[], workMax = workMaxDefault): Verdict {
  const byKey = new Map<string, Invocation[]>();
  for (const invocation of history) {
    const found = byKey.get(invocation.key);
    if (found) found.push(invocation);
    else byKey.set(invocation.key, [invocation]);
  }
  for (const [key, operations] of byKey) {
    const verdict = checkKey(operations, workMax);
    if (verdict !== 'linearizable') return { kind: verdict, key };
  }
  return { kind: 'linearizable' };
}

/** A call or a return, in a list from which operations are taken out and put back. */
interface Node {
  readonly operation: number;
  readonly isCall: boolean;
  /** Of a call: its return, if there is one. */
  match: Node | undefined;
  previous: Node | undefined;
  next: Node | undefined;
}

/**
 * Wing and Gong's search with Lowe's memory: take the first operation that may come first and whose answer fits; when a return is met
 * that no order explains, take back. What was tried, as the set of operations taken and the value, is not tried again.
 */
function checkKey(history: readonly Invocation[], workMax: number): Verdict['kind'] {
  const head = listOf(history);
  const taken = new TakenSet(history.length);
  const tried = new Set<string>();
  const stack: { readonly call: Node; readonly before: number }[] = [];
  let value = 0;
  let unanswered = history.filter(({ returnedAt }) => returnedAt !== undefined).length;
  let at = head.next;
  for (let work = 0; unanswered > 0; work++) {
    if (work > workMax) return 'unknown';
    if (at?.isCall) {
      const { operation, returnedAt } = history[at.operation] as Invocation;
      const next = outcome(operation, value, returnedAt === undefined);
      if (next !== undefined && isNew(tried, taken, at.operation, next)) {
        stack.push({ call: at, before: value });
        taken.add(at.operation);
        value = next;
        if (at.match) unanswered--;
        lift(at);
        at = head.next;
      } else {
        at = at.next;
      }
      continue;
    }
    const last = stack.pop();
    if (last === undefined) return 'violation';
    taken.remove(last.call.operation);
    value = last.before;
    if (last.call.match) unanswered++;
    unlift(last.call);
    at = last.call.next;
  }
  return 'linearizable';
}

/** The value after an operation, or undefined when its answer does not fit the value before. */
function outcome(operation: RegisterOperation, value: number, isUnanswered: boolean): number | undefined {
  switch (operation.kind) {
    case 'read':
      return operation.result === value ? value : undefined;
    case 'write':
      return operation.value;
    case 'compareAndSet': {
      const matches = operation.expected === value;
      if (!isUnanswered && operation.result !== matches) return undefined;
      return matches ? operation.value : value;
    }
    case 'replace': {
      const isSet = value !== 0;
      if (!isUnanswered && operation.result !== isSet) return undefined;
      return isSet ? operation.value : value;
    }
  }
}

function isNew(tried: Set<string>, taken: TakenSet, operation: number, value: number): boolean {
  taken.add(operation);
  const key = `${value} ${taken.text()}`;
  taken.remove(operation);
  if (tried.has(key)) return false;
  tried.add(key);
  return true;
}

/** Calls before returns at the same time, since then the operations overlap. */
function listOf(history: readonly Invocation[]): Node {
  const events = history.flatMap(({ calledAt, returnedAt }, operation) => {
    const call = { time: calledAt, order: 0, operation, isCall: true };
    return returnedAt === undefined ? [call] : [call, { time: returnedAt, order: 1, operation, isCall: false }];
  });
  events.sort((a, b) => a.time - b.time || a.order - b.order);
  const head: Node = { operation: -1, isCall: false, match: undefined, previous: undefined, next: undefined };
  const calls = new Map<number, Node>();
  let last = head;
  for (const { operation, isCall } of events) {
    const node: Node = { operation, isCall, match: undefined, previous: last, next: undefined };
    last.next = node;
    last = node;
    if (isCall) calls.set(operation, node);
    else (calls.get(operation) as Node).match = node;
  }
  return head;
}

function lift(call: Node): void {
  for (const node of call.match ? [call, call.match] : [call]) {
    if (node.previous) node.previous.next = node.next;
    if (node.next) node.next.previous = node.previous;
  }
}

function unlift(call: Node): void {
  for (const node of call.match ? [call.match, call] : [call]) {
    if (node.previous) node.previous.next = node;
    if (node.next) node.next.previous = node;
  }
}

class TakenSet {
  readonly #words: Uint32Array;

  constructor(size: number) {
    this.#words = new Uint32Array(Math.ceil(size / 32));
  }

  add(at: number): void {
    this.#words[at >> 5] = (this.#words[at >> 5] as number) | (1 << (at & 31));
  }

  remove(at: number): void {
    this.#words[at >> 5] = (this.#words[at >> 5] as number) & ~(1 << (at & 31));
  }

  text(): string {
    return String.fromCharCode(...new Uint16Array(this.#words.buffer));
  }
}
