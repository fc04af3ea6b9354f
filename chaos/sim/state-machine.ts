import type { Entry, Index } from '../../coordinator/raft/core/messages.ts';
import { type SavedSession, type SessionCommand, SessionTable } from '../../coordinator/raft/sessions/session-table.ts';
import { crc32c } from '../../shared/checksum/crc32c.ts';

/** Small, so that sessions are forgotten now and then. */
const sessionsMax = 8;

export type Command =
  | { readonly kind: 'register' }
  | { readonly kind: 'write'; readonly session: SessionCommand; readonly key: string; readonly value: number }
  | {
      readonly kind: 'compareAndSet';
      readonly session: SessionCommand;
      readonly key: string;
      readonly expected: number;
      readonly value: number;
    };

export type Applied =
  | { readonly kind: 'registered'; readonly client: number }
  | { readonly kind: 'done'; readonly result: boolean }
  | { readonly kind: 'expired' };

export function encodeCommand(command: Command): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(command));
}

interface Saved {
  readonly registers: [string, number][];
  readonly sessions: SavedSession<boolean>[];
}

/** Registers, 0 at first, that are written and compared, each command once however often it is proposed. */
export class StateMachine {
  applied: Index;
  readonly #registers: Map<string, number>;
  readonly #sessions: SessionTable<boolean>;

  constructor(state: Uint8Array, index: Index) {
    const { registers, sessions } =
      state.length === 0 ? { registers: [], sessions: [] } : (JSON.parse(new TextDecoder().decode(state)) as Saved);
    this.applied = index;
    this.#registers = new Map(registers);
    this.#sessions = SessionTable.restored(sessions, sessionsMax);
  }

  read(key: string): number {
    return this.#registers.get(key) ?? 0;
  }

  apply({ index, kind, data }: Entry): Applied | undefined {
    this.applied = index;
    if (kind !== 'command') return undefined;
    const command = JSON.parse(new TextDecoder().decode(data)) as Command;
    if (command.kind === 'register') {
      this.#sessions.open(index);
      return { kind: 'registered', client: index };
    }
    return this.#sessions.apply(command.session, () => this.#run(command));
  }

  #run(command: Exclude<Command, { kind: 'register' }>): boolean {
    if (command.kind === 'compareAndSet' && this.read(command.key) !== command.expected) return false;
    this.#registers.set(command.key, command.value);
    return true;
  }

  save(): Uint8Array {
    const registers = [...this.#registers].sort(([a], [b]) => (a < b ? -1 : 1));
    return new TextEncoder().encode(JSON.stringify({ registers, sessions: this.#sessions.save() } satisfies Saved));
  }

  hash(): number {
    return crc32c(this.save());
  }
}
