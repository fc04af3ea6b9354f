import { tenths, thousands } from '../../counts.ts';
import { visible } from '../../event-text.ts';
import type { ProgramSession } from '../../session/program-session.ts';
import { type Line, line, type Paint } from '../../terminal/screen.ts';
import type { LiveProgram } from './live-program.ts';
import { Rate } from './rates.ts';

const NAME_CELLS = 16;
const BYTES_PER_MIB = 1_048_576;

/** What the program counts, with rates between looks. */
export class MetricsLines {
  readonly #events = new Rate();
  readonly #outputs = new Rate();

  lines(program: LiveProgram, now: number): readonly Line[] {
    const { session, generator } = program;
    const { eventsProcessed, questionsOpen } = session.counters;
    const facts = [
      fact('events', eventsProcessed, this.#events.look(now, eventsProcessed)),
      fact('outputs', session.outputs, this.#outputs.look(now, session.outputs)),
      ...problems(session),
      ...(questionsOpen > 0 ? [fact('open questions', questionsOpen)] : []),
      ...(generator === undefined ? [] : [fact('made up', generator.generated)]),
      line(`${'memory'.padEnd(NAME_CELLS)}${thousands(process.memoryUsage.rss() / BYTES_PER_MIB)} MiB`),
    ];
    return [...facts, [], ...streamLines(session)];
  }
}

function fact(name: string, count: number, rate?: number, paint: Paint = 'plain'): Line {
  const told = rate === undefined ? '' : `${tenths(rate)}/s`.padStart(14);
  return [
    { text: name.padEnd(NAME_CELLS), paint: 'dim' },
    { text: thousands(count).padStart(12), paint },
    { text: told, paint: 'plain' },
  ];
}

/** Those that there are. */
function problems({ counters }: ProgramSession): readonly Line[] {
  const { eventsInvalid, eventsIncomplete, eventsLate, eventsUnread } = counters;
  const counts = [
    ['invalid', eventsInvalid, 'bad'],
    ['incomplete', eventsIncomplete, 'warning'],
    ['late', eventsLate, 'warning'],
    ['no stream reads', eventsUnread, 'warning'],
  ] as const;
  return counts.filter(([, count]) => count > 0).map(([name, count, paint]) => fact(name, count, undefined, paint));
}

function streamLines({ counters, plan }: ProgramSession): readonly Line[] {
  if (plan.streams.length === 0) return [line('no streams yet', 'dim')];
  const head: Line = line(`${'stream'.padEnd(NAME_CELLS)}${'in'.padStart(12)}${'out'.padStart(10)}${'runs'.padStart(8)}`, 'dim');
  return [head, ...plan.streams.map(({ name }) => streamLine(name, counters.streams.get(name)))];
}

function streamLine(name: string, counts: ReturnType<ProgramSession['counters']['streams']['get']>): Line {
  const { eventsIn = 0, eventsOut = 0, runsActive = 0, failures = 0 } = counts ?? {};
  const shown = visible(name);
  const named = shown.length < NAME_CELLS ? shown.padEnd(NAME_CELLS) : `${shown.slice(0, NAME_CELLS - 2)}… `;
  return [
    { text: named, paint: 'name' },
    { text: thousands(eventsIn).padStart(12), paint: 'plain' },
    { text: thousands(eventsOut).padStart(10), paint: eventsOut > 0 ? 'good' : 'plain' },
    { text: thousands(runsActive).padStart(8), paint: 'plain' },
    { text: failures > 0 ? `  ${thousands(failures)} failed` : '', paint: 'bad' },
  ];
}
