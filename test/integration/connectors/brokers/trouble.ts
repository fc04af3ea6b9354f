import { setTimeout as sleep } from 'node:timers/promises';
import type { Some } from './audited-run.ts';
import type { RunningBroker } from './containers.ts';
import type { Link } from './link.ts';
import type { ProgramRun } from './program-run.ts';

/** What a run is put through, one after the other; each time more has to come before the next. */
export interface Trouble {
  /** So often cep is killed. */
  readonly kills?: number;
  /** So often the broker is. */
  readonly brokerKills?: number;
  /** What kills the broker: with `SIGTERM` it may write down what it has. @default SIGKILL */
  readonly brokerSignal?: 'SIGKILL' | 'SIGTERM';
  /** So long the broker stands still. */
  readonly pauseMs?: number;
  /** So long nothing goes through the link. */
  readonly cutMs?: number;
}

export interface Troubled {
  readonly run: ProgramRun;
  readonly broker: RunningBroker;
  readonly link?: Link;
}

const DOWN_MS = 300;

/** Of the short form. */
export const shortTrouble: Trouble = { kills: 1, brokerKills: 1, pauseMs: 2_000, cutMs: 500 };

/** Of the long form. */
export const longTrouble: Trouble = { kills: 8, brokerKills: 3, pauseMs: 30_000, cutMs: 30_000 };

export function troubleFor(troubled: Troubled, trouble: Trouble): (some: Some) => Promise<void> {
  return async (some) => {
    for (const step of stepsOf(troubled, trouble)) {
      await step();
      await some();
    }
  };
}

function stepsOf({ run, broker, link }: Troubled, trouble: Trouble): (() => Promise<void>)[] {
  const { kills = 0, brokerKills = 0, brokerSignal = 'SIGKILL', pauseMs, cutMs } = trouble;
  const kill = async (): Promise<void> => {
    await run.end('SIGKILL');
    await run.startReading();
  };
  const killBroker = async (): Promise<void> => {
    await broker.kill(brokerSignal);
    await sleep(DOWN_MS);
    await broker.startAgain();
  };
  const pause = async (): Promise<void> => {
    await broker.pause();
    await sleep(pauseMs);
    await broker.resume();
  };
  const cut = async (): Promise<void> => {
    link?.silence();
    await sleep(cutMs);
    link?.heal();
  };
  return [
    ...Array.from({ length: kills }, () => kill),
    ...Array.from({ length: brokerKills }, () => killBroker),
    ...(pauseMs === undefined ? [] : [pause]),
    ...(cutMs === undefined ? [] : [cut]),
  ];
}
