import { appendFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkProgram } from '../../../cli/program/checked-program.ts';
import { Checkpoints } from '../../../cli/simulation/checkpoints.ts';
import { Simulation, type SimulationOptions } from '../../../cli/simulation/simulation.ts';
import { reportNotes, type SimulationReport } from '../../../cli/simulation/summary.ts';
import type { SimulationView } from '../../../cli/simulation/view.ts';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { fieldsToJson } from '../../../shared/events/text.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

const program = `event Login:
    user: str
    tries: int

var seen = 0

stream Pair = Login as a -> Login where user == a.user as b
    .within(10s)
    .emit(user: a.user, n: a.tries, m: b.tries)

stream Sums = Login
    .partition_by(user)
    .window(7)
    .aggregate(sum: sum(tries), mean: avg(tries))
    .emit(user: user, sum: sum, mean: mean)

stream Hourly = Login
    .window(3s)
    .aggregate(n: count(), top: max(tries))
    .emit(n: n, top: top)

stream Told = Login
    .emit(user: user, tries: tries)
    .where(tries > 8)
`;
const plan = checkProgram(folder.write('rules.vpl', program)).plan;

function login(i: number): string {
  return `Login { user: "u${i % 5}", tries: ${(i * 7) % 11} }`;
}

/** Offsets, lines without any, batches, comments, unreadable, invalid and incomplete lines, and none at the end. */
const evt = Array.from({ length: 110 }, (_, i) => {
  if (i % 31 === 7) return `BATCH ${i * 100 + 50}\n# a comment\n`;
  if (i % 47 === 11) return `@${i * 100} Login {\n`;
  if (i % 53 === 13) return `@${i * 100} Login { user: ${i} }\n`;
  if (i % 59 === 17) return `@${i * 100} Login { user: "u1" }\n`;
  return i % 3 === 0 ? `${login(i)}\n` : `@${i * 100} ${login(i)}\n`;
}).join('');
const jsonl = Array.from({ length: 90 }, (_, i) => {
  const time = i % 4 === 0 ? {} : { timestamp: new Date(i * 250).toISOString() };
  return `${JSON.stringify({ event_type: 'Login', ...time, data: { user: `u${i % 5}`, tries: (i * 7) % 11 } })}\n`;
}).join('');

interface Shown {
  readonly outputs: string[];
  readonly notes: string[];
  totals?: SimulationReport;
  summary?: readonly string[];
}

/** Shows into arrays; calls `stop` when `until` outputs have been shown. */
function recording(shown: Shown, until = Infinity, stop: () => void = () => undefined): SimulationView {
  return {
    output({ stream, time, fields }: OutputEvent) {
      shown.outputs.push(`${stream} ${time} ${fieldsToJson(fields)}`);
      if (shown.outputs.length === until) stop();
    },
    console: () => undefined,
    log: () => undefined,
    note: (text) => shown.notes.push(text),
    summary(report) {
      shown.totals = report;
      shown.summary = reportNotes(report);
    },
    progress: () => undefined,
    flush: () => undefined,
    ready: () => Promise.resolve(),
    written: () => Promise.resolve(),
  };
}

interface Run {
  readonly events: string | readonly string[];
  readonly state?: string;
  readonly until?: number;
  readonly program?: string;
}

async function simulate({ events, state, until, program: digest = 'one' }: Run): Promise<Shown> {
  const shown: Shown = { outputs: [], notes: [] };
  const stopped = new AbortController();
  const view = recording(shown, until, () => stopped.abort());
  const checkpoints =
    state === undefined
      ? undefined
      : new Checkpoints({ folder: state, intervalMs: 0, program: digest, timed: false, note: (text) => view.note(text) });
  if (plan === null) throw new Error('the program has errors');
  const options: SimulationOptions = {
    plan,
    eventsPaths: [events].flat(),
    preload: false,
    timed: false,
    strict: false,
    flush: true,
    checkpoints,
  };
  await Simulation.run(options, view, stopped.signal).catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return shown;
}

function resumedAt(notes: readonly string[]): number {
  const found = notes.map((note) => /^resumed behind .* and (\d+) outputs?$/.exec(note)?.[1]).find((text) => text !== undefined);
  if (found === undefined) throw new Error(`not resumed: ${notes.join('; ')}`);
  return Number(found);
}

describe.each([
  ['events.evt', evt],
  ['events.jsonl', jsonl],
  ['events.txt', evt],
  ['lines.txt', jsonl],
])('a simulation of %s that was stopped', (name, content) => {
  const events = folder.write(name, content);

  it.each([1, 25])('goes on behind output %d with the same outputs and counts', async (until) => {
    const whole = await simulate({ events });
    const state = folder.file(`state-${name}-${until}`);
    const first = await simulate({ events, state, until });
    expect(first.outputs.length).toBeLessThan(whole.outputs.length);
    const second = await simulate({ events, state });
    expect([...first.outputs.slice(0, resumedAt(second.notes)), ...second.outputs]).toEqual(whole.outputs);
    expect(second.summary).toEqual(whole.summary);
    expect({ ...second.totals, durationMs: 0 }).toEqual({ ...whole.totals, durationMs: 0 });
  });

  it('goes on more than once', async () => {
    const whole = await simulate({ events });
    const state = folder.file(`often-${name}`);
    let outputs: string[] = [];
    for (let run = 0; run < 100; run++) {
      const { outputs: more, notes, totals } = await simulate({ events, state, until: 19 });
      outputs = [...outputs.slice(0, run === 0 ? 0 : resumedAt(notes)), ...more];
      if (totals) break;
    }
    expect(outputs).toEqual(whole.outputs);
  });
});

describe('a simulation of several files that was stopped', () => {
  const files = [folder.write('first.evt', evt), folder.write('second.jsonl', jsonl), folder.write('third.evt', evt)];

  it.each([1, 20, 60, 100])('goes on behind output %d with the same outputs and counts', async (until) => {
    const whole = await simulate({ events: files });
    const state = folder.file(`state-files-${until}`);
    const first = await simulate({ events: files, state, until });
    const second = await simulate({ events: files, state });
    expect([...first.outputs.slice(0, resumedAt(second.notes)), ...second.outputs]).toEqual(whole.outputs);
    expect({ ...second.totals, durationMs: 0 }).toEqual({ ...whole.totals, durationMs: 0 });
  });

  it('begins anew when one before it has changed', async () => {
    const state = folder.file('state-files-changed');
    await simulate({ events: files, state, until: 60 });
    const changed = [folder.write('first-changed.evt', evt.replace('u1', 'u2')), ...files.slice(1)];
    expect((await simulate({ events: changed, state })).notes[0]).toMatch(/^the checkpoint is of other events than those of /);
  });
});

describe('a checkpoint', () => {
  const events = folder.write('for-checkpoint.evt', evt);

  async function stopped(state: string): Promise<string> {
    await simulate({ events, state: folder.file(state), until: 20 });
    return folder.file(state);
  }

  it('is one file, without leftovers', async () => {
    expect(readdirSync(await stopped('one'))).toEqual(['checkpoint.json']);
  });

  it('of a run that came to its end is not gone on from', async () => {
    const state = folder.file('finished');
    const first = await simulate({ events, state });
    expect(existsSync(`${state}/checkpoint.json`)).toBe(true);
    const second = await simulate({ events, state });
    expect(second.outputs).toEqual(first.outputs);
    expect(second.notes.filter((note) => note.startsWith('resumed'))).toEqual([]);
  });

  it('of another program is left alone, and said so', async () => {
    const state = await stopped('other-program');
    const { outputs, notes } = await simulate({ events, state, program: 'two' });
    expect(outputs).toEqual((await simulate({ events })).outputs);
    expect(notes[0]).toBe(`the checkpoint in '${state}' is of another program: beginning anew`);
  });

  it('of other events is left alone, and said so', async () => {
    const state = await stopped('other-events');
    const changed = folder.write('changed.evt', evt.replace('u1', 'u2'));
    const { outputs, notes } = await simulate({ events: changed, state });
    expect(outputs).toEqual((await simulate({ events: changed })).outputs);
    expect(notes[0]).toBe(`the checkpoint is of other events than those of '${changed}': beginning anew`);
    const shorter = folder.write('shorter.evt', evt.slice(0, 200));
    expect((await simulate({ events: shorter, state: await stopped('shorter') })).notes[0]).toMatch(/is of other events/);
  });

  it('serves for events that have grown since', async () => {
    const growing = folder.write('growing.evt', evt);
    const state = folder.file('grown');
    await simulate({ events: growing, state, until: 20 });
    appendFileSync(growing, `@50s ${login(1)}\n@51s ${login(1)}\n`);
    const whole = await simulate({ events: growing });
    const { outputs, notes } = await simulate({ events: growing, state });
    expect(outputs).toEqual(whole.outputs.slice(resumedAt(notes)));
  });

  it('that is damaged or of a later version is refused, with what to do', async () => {
    const state = await stopped('damaged');
    const text = folder.read('damaged/checkpoint.json');
    const run = (content: string): Promise<Shown> => {
      folder.write('damaged/checkpoint.json', content);
      return simulate({ events, state });
    };
    const damaged = { code: 'io_error', message: expect.stringMatching(/is damaged$/), hint: expect.stringMatching(/^remove /) };
    await expect(run(text.replace(/"outputs":\d+/, '"outputs":1'))).rejects.toMatchObject(damaged);
    await expect(run(text.slice(0, -20))).rejects.toMatchObject(damaged);
    await expect(run('')).rejects.toMatchObject(damaged);
    await expect(run(text.replace('"version":1', '"version":2'))).rejects.toMatchObject({
      message: expect.stringMatching(/later version/),
    });
    rmSync(`${state}/checkpoint.json`);
    expect((await simulate({ events, state })).outputs).toEqual((await simulate({ events })).outputs);
  });
});
