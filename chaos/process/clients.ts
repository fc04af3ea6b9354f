import { setTimeout as sleep } from 'node:timers/promises';
import type { Invocation, RegisterOperation } from '../linearizability/checker.ts';
import type { Acknowledgement } from './audit.ts';
import { type Answer, type GroupAccess, isRefused, type Request } from './group-access.ts';

/** Connectors that are written at a time; each kill begins new ones, which keeps the history of each short enough to search. */
const namesPerRound = 16;
const retryMs = 50;
const retriesMax = 400;

/** What a request came to. `nothing`: it certainly did nothing. `unknown`: it may have been done, or be done later. */
type Told = 'done' | 'absent' | 'taken' | 'nothing' | 'unknown';

export interface ClientsOptions {
  readonly group: GroupAccess;
  /** What clients do follows from it, except for the order in which they are answered. */
  readonly random: (bound: number) => number;
  readonly seed: number;
  /** @default 6 */
  readonly writers?: number;
  /** @default 4 */
  readonly readers?: number;
  /** Between two requests of a client. @default 20 */
  readonly pauseMsMax?: number;
}

/**
 * Writers that make, change and delete connectors, and readers that read them with strong consistency, each through any member. Half of
 * the writers send a request again under one `Idempotency-Key` until they are told; the others take what they are told the first time.
 */
export class Clients {
  readonly history: Invocation[] = [];
  readonly acknowledgements: Acknowledgement[] = [];
  readonly #options: Required<ClientsOptions>;
  #round = 0;
  #nextValue = 1;
  #isOver = false;

  constructor(options: ClientsOptions) {
    this.#options = { writers: 6, readers: 4, pauseMsMax: 20, ...options };
  }

  /** From now on, other connectors are written and read. */
  nextRound(): void {
    this.#round++;
  }

  end(): void {
    this.#isOver = true;
  }

  /** Resolves when `end` was called and every client has finished what it did. */
  async run(): Promise<void> {
    const { writers, readers } = this.#options;
    const writing = Array.from({ length: writers }, (_, at) => this.#repeat(() => this.#write(at % 2 === 0)));
    const reading = Array.from({ length: readers }, () => this.#repeat(() => this.#read()));
    await Promise.all([...writing, ...reading]);
  }

  /** Reads every connector that was written, after everything else. */
  async readAll(): Promise<Map<string, number>> {
    const values = new Map<string, number>();
    for (const key of new Set(this.history.map((invocation) => invocation.key))) {
      for (let tries = 0; !values.has(key); tries++) {
        if (tries === retriesMax) throw new Error(`connector ${key} could not be read ${retriesMax} times`);
        const value = await this.#readOnce(key);
        if (value === undefined) await sleep(retryMs);
        else values.set(key, value);
      }
    }
    return values;
  }

  async #repeat(once: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await once();
      await sleep(this.#options.random(this.#options.pauseMsMax));
    }
  }

  #name(): string {
    return `c_${this.#round}_${this.#options.random(namesPerRound)}`;
  }

  #anyMember(): number {
    const { group, random } = this.#options;
    return group.ids[random(group.ids.length)] as number;
  }

  async #read(): Promise<void> {
    await this.#readOnce(this.#name());
  }

  async #readOnce(key: string): Promise<number | undefined> {
    const calledAt = performance.now();
    const answer = await this.#ask({ method: 'GET', path: `/connectors/${key}?consistency=strong` });
    if (answer === 'unknown' || answer === 'nothing' || (answer.status !== 200 && answer.status !== 404)) return undefined;
    const result = answer.status === 404 ? 0 : Number(answer.body.description);
    this.history.push({ key, operation: { kind: 'read', result }, calledAt, returnedAt: performance.now() });
    return result;
  }

  async #write(isPersistent: boolean): Promise<void> {
    const key = this.#name();
    const [request, operation] = this.#chosen(key);
    const calledAt = performance.now();
    const number = this.#nextValue++;
    const { seed } = this.#options;
    let { told, sentAt } = await this.#send(request, isPersistent ? `${seed}-${number}` : undefined);
    let mayHaveHappened = told === 'unknown';
    for (let tries = 0; isPersistent && (told === 'unknown' || told === 'nothing') && tries < retriesMax; tries++) {
      await sleep(retryMs);
      ({ told, sentAt } = await this.#send(request, `${seed}-${number}`));
      if (told === 'unknown') mayHaveHappened = true;
    }
    const at = performance.now();
    if (told === 'nothing' && !mayHaveHappened) return;
    const isTold = told !== 'unknown' && told !== 'nothing';
    const result = isTold ? told === 'done' : undefined;
    if (told === 'done') this.acknowledgements.push({ sentAt, at });
    this.history.push({ key, operation: { ...operation, result }, calledAt, returnedAt: isTold ? at : undefined });
  }

  #chosen(name: string): [Request, Exclude<RegisterOperation, { kind: 'read' | 'write' }>] {
    const value = this.#nextValue++;
    const body = { connector_type: 'console', params: {}, description: String(value) };
    const choice = this.#options.random(10);
    if (choice < 4) {
      const create = { kind: 'compareAndSet', expected: 0, value, result: undefined } as const;
      return [{ method: 'POST', path: '/connectors', body: { name, ...body } }, create];
    }
    if (choice < 8)
      return [
        { method: 'PUT', path: `/connectors/${name}`, body },
        { kind: 'replace', value, result: undefined },
      ];
    return [
      { method: 'DELETE', path: `/connectors/${name}` },
      { kind: 'replace', value: 0, result: undefined },
    ];
  }

  async #send(request: Request, idempotencyKey: string | undefined): Promise<{ told: Told; sentAt: number }> {
    const sentAt = performance.now();
    const answer = await this.#ask({ ...request, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
    return { told: typeof answer === 'string' ? answer : toldBy(request, answer), sentAt };
  }

  async #ask(request: Request): Promise<Answer | 'nothing' | 'unknown'> {
    try {
      return await this.#options.group.ask(this.#anyMember(), request);
    } catch (error) {
      // Nobody listened; any other end of a connection may come after the request was taken.
      return isRefused(error) ? 'nothing' : 'unknown';
    }
  }
}

/** @throws Error When the answer is none that the coordinator promises, or that of another request. */
function toldBy({ method, path, body }: Request, answer: Answer): Told {
  const { status, body: found } = answer;
  if (status === 200 || status === 201) {
    const expected = (body as { description?: string } | undefined)?.description;
    if (found.description !== expected) throw new Error(`${method} ${path} of ${expected} was answered for ${found.description}`);
    return 'done';
  }
  if (status === 404 && found.code === 'connector_not_found') return 'absent';
  if (status === 409 && found.code === 'name_taken') return 'taken';
  if (status === 421 || status === 503) return 'nothing';
  if (status === 504 || status === 502 || status === 410) return 'unknown';
  throw new Error(`${method} ${path} was answered ${status} ${JSON.stringify(found)}`);
}
