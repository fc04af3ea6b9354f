import { join } from 'node:path';
import type { Build } from './builds.ts';
import { runForJson } from './child-process.ts';
import { eventFile } from './event-files.ts';
import { expectedOf, recordExpected } from './expectations.ts';
import type { MicroCase } from './micro/case.ts';
import { type Expected, readOutputs, requireSum, requireWritten } from './outputs.ts';
import type { MicroFigures } from './processes/micro-figures.ts';
import type { RunFigures } from './processes/run-figures.ts';
import type { Measured } from './rounds.ts';
import { simulateTo } from './scenario-bench.ts';
import { eventsOf, programOf, type Scenario } from './scenarios.ts';

/** Of the events in memory. */
const SMALL_SHARE = 0.02;

/** A small run that is held to what it must give. */
export interface CheckFigures {
  readonly name: string;
  readonly events: number;
  readonly outputs: number;
  /** What was compared, and with what. */
  readonly held: string;
}

export interface Check extends Measured {
  figures(): CheckFigures;
}

export interface CheckSetup {
  readonly build: Build;
  readonly work: string;
  /** Of each scenario. */
  readonly events: number;
  /** Keeps what is given as what is expected. */
  readonly record: boolean;
}

/** The command line, the engine in memory and the bound over one small event file. */
export function scenarioCheck(scenario: Scenario, { build, work, events: asked, record }: CheckSetup): Check {
  const { name, checked } = scenario;
  const events = eventsOf(scenario, asked);
  const known = record ? undefined : expectedOf(name, events);
  let given: Expected | undefined;
  return {
    name,
    async measure() {
      const file = eventFile(scenario, events);
      const path = join(work, `${name}.jsonl`);
      const bound = (await runForJson<RunFigures>(build.process('bound'), [name, file])).data;
      await simulateTo(path, build, scenario, file);
      const written = readOutputs(path);
      given = { ...written, sum: bound.sum };
      requireSum(`the bound of ${name}`, bound, known ?? given);
      requireWritten(`simulate of ${name}`, written, known ?? given);
      const args = [programOf(scenario), file, '1', 'compiled', checked];
      const engine = (await runForJson<RunFigures>(build.process('engine'), args)).data;
      requireSum(`the engine on ${name}`, engine, given);
      if (record) recordExpected(name, events, given);
    },
    figures: () => ({
      name,
      events,
      outputs: given?.outputs ?? 0,
      held: known === undefined ? 'to the bound' : 'to the bound, and to the bytes expected',
    }),
  };
}

/** The engine by each of its doors in memory; the process holds it to the bound. */
export function microCheck({ name, smallShare = SMALL_SHARE }: MicroCase, { build }: CheckSetup): Check {
  let given: MicroFigures | null = null;
  return {
    name,
    async measure() {
      const run = async (mode: string): Promise<MicroFigures | null> =>
        (await runForJson<MicroFigures | null>(build.process('micro'), [name, mode, String(smallShare)])).data;
      given = await run('push');
      await run('enter');
    },
    figures: () => ({ name, events: given?.events ?? 0, outputs: given?.outputs ?? 0, held: 'to the bound' }),
  };
}
