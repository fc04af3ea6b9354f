import { RaftDriver } from '../../../coordinator/raft/driver/raft-driver.ts';

/**
 * `crash-child.ts FOLDER FIRST`: a node that is a group by itself, and eight clients that propose numbers from FIRST on. Each number is
 * printed when it is acknowledged. Goes on until it is killed.
 */
const [folder = '', first = '1'] = process.argv.slice(2);
let next = Number(first);

const driver = await RaftDriver.start({
  folder,
  identity: { clusterId: 'crashing', nodeId: 1, incarnation: 1, voters: [1] },
  machine: { apply: () => undefined, save: () => new Uint8Array(0), restore: () => undefined },
  send: () => undefined,
  random: () => 0,
  report: (problem) => process.stdout.write(`problem ${problem}\n`),
  failed: (cause) => {
    throw cause;
  },
  tickMs: 2,
});

async function client(): Promise<void> {
  for (;;) {
    const number = next++;
    await driver.propose(Buffer.from(String(number)));
    process.stdout.write(`${number}\n`);
  }
}

while (driver.view.role !== 'leader') await new Promise((resolve) => setTimeout(resolve, 2));
await Promise.all(Array.from({ length: 8 }, client));
