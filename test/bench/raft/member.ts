import type { RaftMemberOptions } from '../../../coordinator/raft/group.ts';
import { startRaftMember } from '../../../coordinator/raft/start-raft-member.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { closedLoop, serve } from './load.ts';

/** A member of a Raft group whose state is the number of commands; clients are in its own process. `member.ts OPTIONS` */
const options = JSON.parse(process.argv[2] ?? '{}') as Omit<RaftMemberOptions, 'state' | 'telemetry'>;
const since = performance.now();
let applied = 0;
const member = await startRaftMember({
  ...options,
  state: {
    apply: () => ++applied,
    save: () => [Buffer.from(String(applied))],
    restore: (state) => {
      applied = Number(Buffer.from(state).toString());
    },
  },
  telemetry: new Telemetry(silentLogger, new MetricRegistry()),
});
const startMs = performance.now() - since;
void member.failed.then((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(4);
});

let term = 0;
member.onStatus((status) => {
  if (status.role !== 'leader' || status.term === term) return;
  term = status.term;
  // The first commit of a new leader.
  member.propose(Buffer.from('first')).then(
    () => process.send?.({ event: 'leads', term }),
    () => undefined,
  );
});

serve({
  load: ({ clients, seconds, bytes }) => closedLoop({ clients, seconds }, () => member.propose(new Uint8Array(bytes))),
  reads: ({ clients, seconds }) => closedLoop({ clients, seconds }, () => member.readIndex()),
  status: () => Promise.resolve({ ...member.status(), startMs, applied }),
  burn: ({ seconds }) => {
    const until = performance.now() + seconds * 1_000;
    const burn = (): void => {
      const pause = performance.now() + 180;
      while (performance.now() < pause) JSON.parse(JSON.stringify(Array.from({ length: 1_000 }, (_, at) => ({ at, text: String(at) }))));
      if (performance.now() < until) setTimeout(burn, 20);
    };
    burn();
    return Promise.resolve(undefined);
  },
  close: async () => {
    await member.close({ transfer: true });
    setImmediate(() => process.exit(0));
    return undefined;
  },
});
