import { type Command, encodeCommand, StateMachine } from '../../../chaos/sim/state-machine.ts';
import { type RaftMemberOptions, RaftRefusal } from '../../../coordinator/raft/group.ts';
import { startRaftMember } from '../../../coordinator/raft/start-raft-member.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

/** What the process is asked; each answer has the number of its question. */
export type Question =
  | { readonly id: number; readonly kind: 'propose'; readonly command: Command }
  | { readonly id: number; readonly kind: 'read'; readonly key: string }
  | { readonly id: number; readonly kind: 'close' }
  /** The thread that asks is busy for so long, again and again, with pauses of a tenth of that. */
  | { readonly id: number; readonly kind: 'burn'; readonly ms: number };

export type Said =
  | { readonly kind: 'started' }
  | { readonly kind: 'status'; readonly role: string; readonly leader: number; readonly term: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly leader: number; readonly mayHaveHappened: boolean }
  | { readonly kind: 'event'; readonly message: string };

const say = (said: Said): void => {
  process.send?.(said);
};

/** `member-process.ts OPTIONS`: a member of a group, with the options as JSON, whose state is registers. It ends with its parent. */
const options = JSON.parse(process.argv[2] ?? '{}') as Omit<RaftMemberOptions, 'state' | 'telemetry'>;
let machine = new StateMachine(new Uint8Array(0), 0);

try {
  const member = await startRaftMember({
    ...options,
    state: {
      apply: ({ index, term, data }) => machine.apply({ index, term, data, kind: 'command' }),
      save: () => [machine.save()],
      restore: (state) => {
        machine = new StateMachine(state, 0);
      },
    },
    telemetry: new Telemetry(
      { ...silentLogger, isEnabled: () => true, log: (_, message) => say({ kind: 'event', message }) },
      new MetricRegistry(),
    ),
  });
  void member.failed.then(end);
  member.onStatus(({ role, leader, term }) => say({ kind: 'status', role, leader, term }));
  process.on('disconnect', () => process.exit(0));
  process.on('message', (question: Question) => {
    answer(question).catch((error: unknown) => {
      if (!(error instanceof RaftRefusal)) return end(error);
      say({ kind: 'refused', id: question.id, leader: error.leader, mayHaveHappened: error.mayHaveHappened });
    });
  });
  say({ kind: 'started' });

  const answer = async (question: Question): Promise<void> => {
    const { id } = question;
    if (question.kind === 'propose') {
      const { result } = await member.propose(encodeCommand(question.command));
      return say({ kind: 'answer', id, answer: result });
    }
    if (question.kind === 'read') {
      await member.readIndex();
      return say({ kind: 'answer', id, answer: machine.read(question.key) });
    }
    if (question.kind === 'burn') return burn(question.ms);
    await member.close({ transfer: true });
    process.exit(0);
  };
} catch (error) {
  end(error);
}

function burn(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) JSON.parse(JSON.stringify(Array.from({ length: 1_000 }, (_, at) => ({ at, text: String(at) }))));
  setTimeout(() => burn(ms), ms / 10);
}

/** As a server ends: the message for people, and the exit code of the error. */
function end(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof CepError ? error.exitCode : 1);
}
