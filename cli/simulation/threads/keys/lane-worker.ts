import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { checkProgram } from '../../../program/checked-program.ts';
import { digestOf } from '../../checkpoint.ts';
import { Lane } from './lane.ts';
import type { FromLaneThread, LaneThreadSetup, ToLaneThread } from './lane-messages.ts';
import type { LaneRecord } from './lane-record.ts';

/** What runs on a thread of a simulation that is divided by keys. Begins at the end of this file. */
function start(port: NonNullable<typeof parentPort>, setup: LaneThreadSetup): void {
  const post = (message: FromLaneThread, transfer: TransferListItem[] = []): void => port.postMessage(message, transfer);
  let lane: Lane | undefined;
  let made = 0;
  port.on('message', (most: ToLaneThread) => {
    try {
      lane ??= openLane(setup);
      for (let record = made < most ? lane.next() : undefined; record !== undefined; record = made < most ? lane.next() : undefined) {
        made++;
        post({ kind: 'record', record }, buffersOf(record));
      }
    } catch {
      // Whatever goes wrong here goes wrong again where the user is told of it.
      post({ kind: 'lost' });
    }
  });
}

/** @throws Error when the program is another one than it was */
function openLane({ programPaths, program, ...setup }: LaneThreadSetup): Lane {
  const { plan, sources } = checkProgram(programPaths);
  if (plan === null || digestOf(...sources.map(({ text }) => text)) !== program) throw new Error('the program has changed');
  return Lane.open({ ...setup, plan });
}

function buffersOf({ entries: { moments, ends, placeAt, places, text } }: LaneRecord): ArrayBuffer[] {
  return [moments, ends, placeAt, places, text].map(({ buffer }) => buffer as ArrayBuffer);
}

if (parentPort !== null) start(parentPort, workerData as LaneThreadSetup);
