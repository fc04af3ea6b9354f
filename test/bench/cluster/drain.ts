import type { ClusterUnderLoad } from './cluster-under-load.ts';

const PIPELINES = 20;
const groupPath = '/api/v1/cluster/pipeline-groups';
const source = 'stream Sums = Reading .partition_by(sensor) .window(1h) .aggregate(total: sum(value))\n    .emit(total: total)';

/** Everything of one worker goes to the other, while each pipeline gets one event after the other: how long any of them is answered nothing. */
export async function measureDrain(cluster: ClusterUnderLoad, print: (line: string) => void): Promise<void> {
  const names = Array.from({ length: PIPELINES }, (_, at) => `p${at}`);
  const pipelines = names.map((name) => ({ name, source, worker_affinity: 'w1' }));
  await cluster.ask({ method: 'POST', path: groupPath, body: { name: 'drained', pipelines } });
  const pauses = new Map<string, number>();
  let isDone = false;
  let sent = 0;
  const feed = async (name: string): Promise<void> => {
    let since = performance.now();
    while (!isDone) {
      const event = { event_type: 'Reading', fields: { sensor: `s${sent++ % 100}`, value: 1 }, timestamp: 1_700_000_000_000 + sent };
      await cluster
        .ask({ method: 'POST', path: `${groupPath}/drained/inject`, body: { ...event, pipeline: name } })
        .catch((error: Error) => print(error.message));
      pauses.set(name, Math.max(pauses.get(name) ?? 0, performance.now() - since));
      since = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const feeding = names.map(feed);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const usual = Math.max(...pauses.values());
  pauses.clear();
  const began = performance.now();
  const drained = await cluster.ask({ method: 'POST', path: '/api/v1/cluster/workers/w1/drain', body: { timeout_secs: 60 } });
  const took = performance.now() - began;
  isDone = true;
  await Promise.all(feeding);
  const all = [...pauses.values()].sort((a, b) => a - b);
  print(
    `drain of ${(drained as { pipelines_migrated: number }).pipelines_migrated} pipelines under ${sent} events: ${Math.round(took)} ms`,
  );
  print(
    `drain: longest pause of one pipeline p50 ${Math.round(all[PIPELINES / 2] ?? 0)} ms, max ${Math.round(all.at(-1) ?? 0)} ms (goal 500 ms; before the drain ${Math.round(usual)} ms)`,
  );
}
