import { RaftDriver } from '../../../coordinator/raft/driver/raft-driver.ts';

/**
 * `crash-child.ts FOLDER FIRST`: a node that is a group by itself, and eight clients that propose numbers from FIRST on. Each number is
 * printed when it is acknowledged. Goes on until it is killed.
 */
const [folder = '', first = '1'] = process.argv.slice(2);
let next = Number(first);

function propose(): void {
  const number = next++;
  driver.propose(number, Buffer.from(String(number)));
}

const driver = await RaftDriver.start({
  folder,
  identity: { clusterId: 'crashing', nodeId: 1, incarnation: 1, voters: [1] },
  send: () => false,
  outlet: {
    restore: () => undefined,
    committed: (batch) => {
      for (const { proposal } of batch) {
        if (proposal === 0) continue;
        process.stdout.write(`${proposal}\n`);
        setImmediate(propose);
      }
      const last = batch.at(-1)?.entry.index ?? 0;
      setImmediate(() => driver.applied(last));
    },
    done: () => undefined,
    refused: () => undefined,
    snapshotWanted: () => undefined,
    changed: () => undefined,
    written: () => undefined,
    stalled: () => undefined,
    diskIsSlow: () => undefined,
    failed: (cause) => {
      throw cause;
    },
  },
  random: () => 0,
  report: (problem) => process.stdout.write(`problem ${problem}\n`),
  tickMs: 2,
});
driver.begin();

while (driver.view.role !== 'leader') await new Promise((resolve) => setTimeout(resolve, 2));
for (let client = 0; client < 8; client++) propose();
