import { invariant } from '../../../shared/errors/error.ts';

/** A command as a client sends it, and sends again when it hears nothing. */
export interface SessionCommand {
  readonly client: number;
  /** From 1, one more for each new command of the client. */
  readonly seq: number;
  /** The client has the results of everything below. */
  readonly lowestUnacknowledged: number;
}

export type SessionResult<R> =
  | { readonly kind: 'done'; readonly result: R }
  /** It may have been done, or not: the session was forgotten, and to do it again could be to do it twice. */
  | { readonly kind: 'expired' };

interface Session<R> {
  /** Results that the client may still ask for. */
  readonly results: Map<number, R>;
  /** All below is answered or given up. */
  lowest: number;
}

/**
 * What makes a command that is proposed twice happen once (dissertation §6.3). Part of the replicated state: all nodes apply the same
 * commands in the same order and so forget the same sessions, the least recently used first.
 */
export class SessionTable<R> {
  readonly #sessionsMax: number;
  readonly #sessions = new Map<number, Session<R>>();

  constructor(sessionsMax: number) {
    invariant(sessionsMax > 0, 'a table of sessions has no place');
    this.#sessionsMax = sessionsMax;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Sessions are opened by an entry of the log and have its index as their id, so that none is ever opened twice. */
  open(client: number): void {
    invariant(!this.#sessions.has(client), `session ${client} is opened twice`);
    this.#touch(client, { results: new Map<number, R>(), lowest: 1 });
  }

  /** Runs a command that is new and remembers its result; of one that was run before, gives that. */
  apply({ client, seq, lowestUnacknowledged }: SessionCommand, run: () => R): SessionResult<R> {
    const session = this.#sessions.get(client);
    if (session === undefined || seq < session.lowest) return { kind: 'expired' };
    this.#touch(client, session);
    for (const done of session.results.keys()) if (done < lowestUnacknowledged) session.results.delete(done);
    session.lowest = Math.max(session.lowest, lowestUnacknowledged);
    const before = session.results.get(seq);
    if (before !== undefined) return { kind: 'done', result: before };
    const result = run();
    session.results.set(seq, result);
    return { kind: 'done', result };
  }

  #touch(client: number, session: Session<R>): void {
    this.#sessions.delete(client);
    this.#sessions.set(client, session);
    const oldest = this.#sessions.keys().next().value;
    if (this.#sessions.size > this.#sessionsMax && oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** As JSON-safe data for a snapshot, in the order of use. */
  save(): SavedSession<R>[] {
    return [...this.#sessions].map(([client, { lowest, results }]) => ({ client, lowest, results: [...results] }));
  }

  static restored<R>(saved: readonly SavedSession<R>[], sessionsMax: number): SessionTable<R> {
    const table = new SessionTable<R>(sessionsMax);
    for (const { client, lowest, results } of saved) table.#sessions.set(client, { lowest, results: new Map(results) });
    return table;
  }
}

export interface SavedSession<R> {
  readonly client: number;
  readonly lowest: number;
  readonly results: readonly (readonly [number, R])[];
}
