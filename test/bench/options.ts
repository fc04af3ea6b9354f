import { parseArgs } from 'node:util';

export const USAGE = `usage: npm run bench -- [gates] [name ...] [options]

  gates           judges: scenarios by their cold speed as a share of the same work by hand; other cases where they are named;
                  ends with 1 when one fails
  name            scenarios, micro cases or groups (scenarios, micro, service); a part of a name is enough, of a number its start
  --quick         small files, one round: holds counts and checksums to what is expected, its times mean nothing
  --events N      events of each scenario [1000000]
  --rounds N      rounds, interleaved [5]
  --against DIR   this checkout and another one in turn; ends with 1 when a scenario is slower twice
  --cpu           warm runs by processor time: steadier beside other work, blind to waiting
  --json          figures as one JSON object
  --record        keeps counts and checksums of this run as what is expected
  --publish       writes the figures of this run into docs/performance.md
`;

/** By which clock warm runs are measured. */
export type Clock = 'wall' | 'cpu';

export interface BenchOptions {
  /** Only how fast the scenarios are beside their bounds, and whether that is enough. */
  readonly gates: boolean;
  readonly names: readonly string[];
  readonly quick: boolean;
  readonly events: number;
  readonly rounds: number;
  readonly against: string | undefined;
  readonly clock: Clock;
  readonly json: boolean;
  readonly record: boolean;
  readonly publish: boolean;
}

/** A mistake in the arguments. */
export class UsageError extends Error {}

const EVENTS = 1_000_000;
const EVENTS_QUICK = 10_000;
const ROUNDS = 5;

/** @throws UsageError */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  if (values.publish && (values.quick || values.against !== undefined)) {
    throw new UsageError('--publish is of whole measurements: leave out --quick and --against');
  }
  const { quick = false, against, cpu = false, json = false, record = false, publish = false } = values;
  const gates = positionals[0] === 'gates';
  return {
    gates,
    names: gates ? gateNames(positionals.slice(1)) : positionals,
    quick,
    events: numberOf('--events', values.events, quick ? EVENTS_QUICK : EVENTS),
    rounds: numberOf('--rounds', values.rounds, quick ? 1 : ROUNDS),
    against,
    clock: cpu ? 'cpu' : 'wall',
    json,
    record,
    publish,
  };
}

/** Without names the scenarios are judged. */
function gateNames(names: readonly string[]): readonly string[] {
  return names.length === 0 ? ['scenarios'] : names;
}

function parse(args: readonly string[]): ReturnType<typeof parseArgs<typeof config>> {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const config = {
  allowPositionals: true,
  options: {
    quick: { type: 'boolean' },
    events: { type: 'string' },
    rounds: { type: 'string' },
    against: { type: 'string' },
    cpu: { type: 'boolean' },
    json: { type: 'boolean' },
    record: { type: 'boolean' },
    publish: { type: 'boolean' },
  },
} as const;

function numberOf(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text.replaceAll('_', ''));
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`${option} takes a whole number from 1 on, found '${text}'`);
}

/** What was asked for: everything without names, else what a name is a part of. @throws UsageError when a name fits nothing */
export function chosen<T extends { readonly name: string }>(
  all: readonly (T & { readonly group: string })[],
  names: readonly string[],
): T[] {
  const fits = ({ name, group }: { name: string; group: string }, part: string): boolean =>
    group === part || (/^\d/.test(part) ? name.startsWith(part) : name.includes(part));
  for (const part of names) if (!all.some((one) => fits(one, part))) throw new UsageError(`nothing to measure is called '${part}'`);
  return names.length === 0 ? [...all] : all.filter((one) => names.some((part) => fits(one, part)));
}
