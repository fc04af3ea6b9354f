import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import type { EngineOptions } from '../../worker/engine/create-engine.ts';
import type { EngineSnapshot, RestoreReport } from '../../worker/engine/engine.ts';
import { FIRST_STATE_FORMAT } from '../../worker/engine/state/format.ts';
import { CUT, events, type StateEvent, stateful } from './programs.ts';
import { StateRun } from './state-run.ts';

/**
 * Saved states, one file each: a program, what its engine saved, the events that follow and what comes of them. `current` has what this
 * version saves; `UPDATE_STATES=1 npx vitest run test/states` writes those anew. `earlier` has what versions before saved: nobody writes
 * them, and each of them must load. When the members of a state change, its version counts up, and a copy of the file goes there.
 */
interface SavedState {
  readonly program: string;
  readonly snapshot: EngineSnapshot;
  readonly events: readonly StateEvent[];
  readonly outputs: readonly string[];
}

const ways: Readonly<Record<string, EngineOptions>> = { 'as it ships': {}, 'row by row': { isFused: false } };

function fileOf(name: string): string {
  return `test/states/current/${name.replaceAll(/[^a-z0-9]+/g, '-')}.state`;
}

/** Runs the program up to the cut, saves, and runs on without a restore. */
function savedState(program: string, options: EngineOptions): SavedState {
  const run = new StateRun(program, options);
  for (const event of events.slice(0, CUT)) run.push(event);
  const snapshot = JSON.parse(JSON.stringify(run.engine.snapshot())) as EngineSnapshot;
  run.forget();
  for (const event of events.slice(CUT)) run.push(event);
  run.end();
  return { program, snapshot, events: events.slice(CUT), outputs: run.outputs };
}

/** JSON with a line for each member. */
function textOf(saved: SavedState): string {
  return `{${Object.entries(saved)
    .map(([name, content]) => `\n"${name}":${JSON.stringify(content)}`)
    .join(',')}\n}\n`;
}

function read(file: string): SavedState {
  return JSON.parse(readFileSync(file, 'utf8')) as SavedState;
}

function restored(
  { program, snapshot, events }: SavedState,
  options: EngineOptions,
): { report: RestoreReport; outputs: readonly string[] } {
  const run = new StateRun(program, options);
  const report = run.engine.restore(snapshot);
  for (const event of events) run.push(event);
  run.end();
  return { report, outputs: run.outputs };
}

describe.each(Object.entries(stateful))('the state of %s', (name, program) => {
  it('is saved as it is kept here', () => {
    const saved = savedState(program, {});
    if (process.env['UPDATE_STATES'] !== undefined) writeFileSync(fileOf(name), textOf(saved));
    expect(saved.outputs.length).toBeGreaterThan(0);
    expect(existsSync(fileOf(name)) ? read(fileOf(name)) : undefined).toEqual(saved);
  });
});

const kept = ['current', 'earlier'].flatMap((folder) =>
  readdirSync(`test/states/${folder}`).map((name) => `test/states/${folder}/${name}`),
);

describe.each(Object.entries(ways))('%s', (_way, options) => {
  it.each(kept)('%s is loaded, and what follows is as if nothing had happened', (file) => {
    const saved = read(file);
    const { report, outputs } = restored(saved, options);
    expect(report).toMatchObject({ changed: [], reset: [], added: [], removed: [] });
    expect(outputs).toEqual(saved.outputs);
  });
});

/** What versions that wrote an earlier format saved at the same place in the same program, by how their files end. */
const earlierFormats = [
  [FIRST_STATE_FORMAT, '-run-by-run.state'],
  [2, '-member-by-member.state'],
  [3, '-counted.state'],
] as const;

describe.each(earlierFormats)('an engine that writes format %i of states', (format, ending) => {
  it.each(kept.filter((file) => file.endsWith(ending)))('saves what was saved then: %s', (file) => {
    const { program, snapshot } = read(file);
    const run = new StateRun(program, {});
    for (const event of events.slice(0, CUT)) run.push(event);
    expect(JSON.parse(JSON.stringify(run.engine.snapshot(format)))).toEqual(snapshot);
  });

  it.each(Object.entries(stateful))('has nothing of a later one: %s', (name, program) => {
    const run = new StateRun(program, {});
    for (const event of events.slice(0, CUT)) run.push(event);
    const saved = JSON.parse(JSON.stringify(run.engine.snapshot(format))) as EngineSnapshot;
    const versions = [...JSON.stringify(saved).matchAll(/"[a-z ]+ ([0-9]+)"/g)].map(([, version]) => Number(version));
    expect(Math.max(1, ...versions)).toBeLessThanOrEqual(format);
    expect(restored({ ...read(fileOf(name)), snapshot: saved }, {}).outputs).toEqual(read(fileOf(name)).outputs);
  });
});

test('every state that is kept is that of a program', () => {
  const names = readdirSync('test/states/current').map((name) => `test/states/current/${name}`);
  expect(names.toSorted()).toEqual(Object.keys(stateful).map(fileOf).toSorted());
});
