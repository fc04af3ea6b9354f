import { join } from 'node:path';
import { type Build, buildCheckout } from './builds.ts';
import type { CalibratedRound } from './calibrator.ts';
import { runForJson } from './child-process.ts';
import { type Comparison, compare, slowerTwice } from './comparison.ts';
import { eventFile } from './event-files.ts';
import type { Clock } from './options.ts';
import { readOutputs, requireSum } from './outputs.ts';
import { lastTime, type RunFigures } from './processes/run-figures.ts';
import { type Failure, type Measured, measureInRounds, succeeded } from './rounds.ts';
import { simulateTo } from './scenario-bench.ts';
import { eventsOf, programOf, type Scenario } from './scenarios.ts';

export interface AgainstSetup {
  readonly ours: Build;
  readonly folder: string;
  readonly events: number;
  readonly rounds: number;
  readonly clock: Clock;
  readonly work: string;
  readonly say: (text: string) => void;
}

export interface AgainstFigures {
  readonly comparisons: readonly Comparison[];
  /** A second run of the scenarios that were slower; empty when none was. */
  readonly again: readonly Comparison[];
  /** Slower in both runs. */
  readonly slower: readonly string[];
  readonly calibrations: readonly CalibratedRound[];
  readonly failures: readonly Failure[];
}

/** Measures this checkout and another in turn; what was slower is measured once more before it counts. */
export async function measureAgainst(scenarios: readonly Scenario[], setup: AgainstSetup): Promise<AgainstFigures> {
  const theirs = await buildCheckout(setup.folder, ['engine']);
  const first = await compareAll(scenarios, theirs, setup);
  const suspects = scenarios.filter(({ name }) => first.comparisons.some((one) => one.name === name && one.isSlower));
  const second = suspects.length > 0 ? await compareAll(suspects, theirs, setup) : { comparisons: [], calibrations: [], failures: [] };
  return {
    comparisons: first.comparisons,
    again: second.comparisons,
    slower: slowerTwice(first.comparisons, second.comparisons),
    calibrations: [...first.calibrations, ...second.calibrations],
    failures: [...first.failures, ...second.failures],
  };
}

async function compareAll(
  scenarios: readonly Scenario[],
  theirs: Build,
  setup: AgainstSetup,
): Promise<Pick<AgainstFigures, 'comparisons' | 'calibrations' | 'failures'>> {
  const pairs = scenarios.map((scenario) => new Pair(scenario, theirs, setup));
  const { calibrations, failures } = await measureInRounds(pairs, setup.rounds, setup.say);
  return { comparisons: succeeded(pairs, failures).map((pair) => pair.comparison()), calibrations, failures };
}

/** One scenario in both checkouts; who goes first changes from round to round. */
class Pair implements Measured {
  readonly name: string;
  readonly #scenario: Scenario;
  readonly #theirs: Build;
  readonly #setup: AgainstSetup;
  readonly #times: { readonly ours: number[]; readonly theirs: number[] } = { ours: [], theirs: [] };
  #bound: RunFigures | undefined;

  constructor(scenario: Scenario, theirs: Build, setup: AgainstSetup) {
    this.name = scenario.name;
    this.#scenario = scenario;
    this.#theirs = theirs;
    this.#setup = setup;
  }

  async measure(): Promise<void> {
    const isOursFirst = this.#times.ours.length % 2 === 0;
    if (this.#times.ours.length === 0) await this.#requireSameOutputs();
    const sides = isOursFirst ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    for (const side of sides) this.#times[side].push(await this.#timeOf(side === 'ours' ? this.#setup.ours : this.#theirs));
  }

  comparison(): Comparison {
    return compare({ name: this.name, ...this.#times });
  }

  /** The second run of a fresh process. */
  async #timeOf({ process }: Build): Promise<number> {
    const events = eventFile(this.#scenario, eventsOf(this.#scenario, this.#setup.events));
    const args = [programOf(this.#scenario), events, '2', 'compiled', this.#scenario.checked];
    const { data } = await runForJson<RunFigures>(process('engine'), args);
    this.#bound ??= (await runForJson<RunFigures>(this.#setup.ours.process('bound'), [this.name, events, '1'])).data;
    requireSum(this.name, data, this.#bound);
    return lastTime(data, this.#setup.clock);
  }

  async #requireSameOutputs(): Promise<void> {
    const events = eventFile(this.#scenario, eventsOf(this.#scenario, this.#setup.events));
    const digests: string[] = [];
    for (const build of [this.#setup.ours, this.#theirs]) {
      const path = join(this.#setup.work, `${this.name}-pair.jsonl`);
      await simulateTo(path, build, this.#scenario, events);
      digests.push(readOutputs(path).sha256);
    }
    if (digests[0] !== digests[1]) this.#setup.say(`${this.name}: the two checkouts give different outputs`);
  }
}
