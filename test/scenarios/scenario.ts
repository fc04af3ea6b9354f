/**
 * A scenario file: free text that says what it shows, then sections. What stands under `--- outputs` is recorded by
 * `UPDATE_SCENARIOS=1 npx vitest run test/scenarios` and reviewed as a diff.
 *
 *     --- program
 *     stream S = A.where(v > 1).emit()
 *     --- events
 *     @0s A { v: 2 }
 *     !tick 10s            (the clock of every source whose newest event has arrival time; a source may be named behind it)
 *     !stop                (the input does not end: nothing is flushed)
 *     --- outputs
 *     # @0s A { v: 2 }
 *     {"time":0,"stream":"S","fields":{"v":2}}
 */
export interface Scenario {
  readonly head: string;
  readonly program: string;
  readonly events: readonly string[];
  readonly outputs: string;
}

export function parseScenario(text: string): Scenario {
  const [head = '', ...sections] = text.split(/^--- /m);
  const bodies = new Map(
    sections.map((section) => [section.slice(0, section.indexOf('\n')).trim(), section.slice(section.indexOf('\n') + 1)]),
  );
  const program = bodies.get('program');
  if (program === undefined) throw new Error('a scenario needs a section --- program');
  const events = (bodies.get('events') ?? '').split('\n').filter((line) => line.trim() !== '');
  return { head, program, events, outputs: bodies.get('outputs') ?? '' };
}

export function printScenario({ head, program, events }: Scenario, outputs: string): string {
  return `${head}--- program\n${program}--- events\n${events.map((line) => `${line}\n`).join('')}--- outputs\n${outputs}`;
}
