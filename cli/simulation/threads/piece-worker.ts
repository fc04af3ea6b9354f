import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { checkProgram } from '../../program/checked-program.ts';
import { digestOf } from '../checkpoint.ts';
import type { FromPieceThread, PieceSetup, ToPieceThread } from './piece-messages.ts';
import type { PieceRecord } from './piece-record.ts';
import { PieceRunner } from './piece-runner.ts';

/** What runs on a thread of a divided simulation. Begins at the end of this file. */
function start(port: NonNullable<typeof parentPort>, setup: PieceSetup): void {
  const post = (message: FromPieceThread, transfer: TransferListItem[] = []): void => port.postMessage(message, transfer);
  const runner = attempt(() => openRunner(setup));
  if (runner === undefined) {
    post({ kind: 'lost' });
    return;
  }
  port.on('message', (piece: ToPieceThread) => {
    const record = attempt(() => runner.recordAtOnce(piece));
    if (record === undefined) post({ kind: 'lost' });
    else post({ kind: 'record', record }, buffersOf(record));
  });
  post({ kind: 'ready' });
}

function openRunner({ programPaths, program, eventsPath, strict, style }: PieceSetup): PieceRunner | undefined {
  const { plan, sources } = checkProgram(programPaths);
  const isSame = digestOf(...sources.map(({ text }) => text)) === program;
  return plan !== null && isSame ? PieceRunner.open({ plan, eventsPath, strict, style }) : undefined;
}

/** Whatever goes wrong here goes wrong again where the user is told of it. */
function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function buffersOf({ shown }: PieceRecord): ArrayBuffer[] {
  return shown.flatMap((one) => (one instanceof Uint8Array ? [one.buffer as ArrayBuffer] : []));
}

if (parentPort !== null) start(parentPort, workerData as PieceSetup);
