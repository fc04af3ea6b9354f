import { rmSync } from 'node:fs';
import { createRuntime } from '../../../worker/runtime/runtime.ts';

/**
 * A process that is killed: injects durable events, each under its own idempotency key, and says on standard output what it knows.
 * Meanwhile other pipelines come and go, programs are reloaded, states restored, copies made, and the wall clock is set to and fro.
 * Arguments: state directory, first new number, comma-separated numbers whose answer was never seen.
 */
const [stateDir = '', first = '1', unanswered = ''] = process.argv.slice(2);
const TENANT = 'default';
const LANES = 8;

const program = `event Tx:
  n: int

stream Seen = Tx
  .partition_by(n)
  .aggregate(n: last(n), times: count())
  .emit(n: n, times: times)

stream Second = Tx
  .window(1s)
  .aggregate(count: count())
  .emit(count: count)
`;

/** Standard output is a pipe, which Node writes to before it goes on. */
const say = (...words: unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);

const HOUR_MS = 3_600_000;
/** Set anew with every round of `churn`. */
let clockOffset = 0;

const runtime = await createRuntime({
  clock: { wallMs: () => Date.now() + clockOffset, elapsedMs: () => performance.now() },
  stateDir,
  engineThreads: 1,
  checkpointIntervalMs: 150,
  segmentBytes: 8_192,
  report: ({ level, message, fields }) => (level === 'info' ? undefined : say('report', message, JSON.stringify(fields))),
});
await runtime.start();
const { pipelines } = runtime;
const known = pipelines.list(TENANT, { limit: 100, offset: 0 }).pipelines.find(({ name }) => name === 'counter');
const id = known?.id ?? (await pipelines.deploy(TENANT, { name: 'counter', source: program })).pipeline.id;
const cursor = pipelines.follow(TENANT, id, { after: 0, onReadable: () => readOutputs(), onEnd: () => undefined });

function readOutputs(): void {
  for (const output of cursor.read(10_000).outputs) {
    const { n, times } = JSON.parse(output.fieldsJson) as { n?: number; times?: number };
    if (n !== undefined) say('output', n, times, output.id);
  }
}

say('ready', id);

// One to which next to nothing comes, while the log goes on.
const quiet =
  pipelines.list(TENANT, { limit: 100, offset: 0 }).pipelines.find(({ name }) => name === 'quiet')?.id ??
  (await pipelines.deploy(TENANT, { name: 'quiet', source: program })).pipeline.id;
const bodyOf = (n: number): Uint8Array => new TextEncoder().encode(JSON.stringify({ event_type: 'Tx', fields: { n } }));
await pipelines.inject(TENANT, quiet, { body: bodyOf(process.pid), format: 'event', durable: true });
say('quiet', quiet, process.pid);

const retries = unanswered === '' ? [] : unanswered.split(',').map(Number);
let next = Number(first);
const takeNumber = (): number => retries.shift() ?? next++;

async function lane(): Promise<never> {
  for (;;) {
    const n = takeNumber();
    say('send', n);
    await pipelines.inject(TENANT, id, { body: bodyOf(n), format: 'event', durable: true, idempotencyKey: `key ${n}` });
    say('answer', n);
  }
}

async function churn(): Promise<never> {
  for (let round = 0; ; round++) {
    clockOffset = Math.round((Math.random() - 0.5) * 2 * HOUR_MS);
    for (const { id: other, name } of pipelines.list(TENANT, { limit: 100, offset: 0 }).pipelines) {
      if (name.startsWith('other')) await pipelines.delete(TENANT, other);
    }
    const request = { tenant: TENANT, key: `deploy ${process.pid} ${round}`, digest: 'd' };
    const deploy = (): Promise<string> =>
      pipelines.deploy(TENANT, { name: `other ${round}`, source: program }).then(({ pipeline }) => pipeline.id);
    const other = await runtime.once(request, deploy);
    if ((await runtime.once(request, deploy)) !== other) say('report', 'a repeat made another pipeline');
    await pipelines.reload(TENANT, id, { source: `${program}# ${round}\n` });
    const { checkpointJson } = await pipelines.checkpoint(TENANT, id);
    await pipelines.restore(TENANT, other, new TextEncoder().encode(checkpointJson));
    if (round % 5 === 4) rmSync((await runtime.backUp())?.path ?? '', { recursive: true });
  }
}

await Promise.all([churn(), ...Array.from({ length: LANES }, lane)]);
