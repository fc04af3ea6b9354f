import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkProgram } from '../../../cli/program/checked-program.ts';
import { EventLines } from '../../../cli/simulation/event-lines.ts';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { runBound } from '../../bench/bounds/bound.ts';
import { LineCursor } from '../../bench/bounds/line-cursor.ts';
import { Names } from '../../bench/bounds/names.ts';
import { Words } from '../../bench/bounds/words.ts';
import { writeEvents } from '../../bench/event-files.ts';
import { programOf, type Scenario, scenarios } from '../../bench/scenarios.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-bench-bounds-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Output {
  readonly stream: string;
  readonly time: number;
  readonly fields: object;
}

function outputsOfBound({ bound }: Scenario, path: string): Output[] {
  const outputs: Output[] = [];
  runBound(bound, path, (stream, time, fields) => outputs.push({ stream, time, fields }));
  return outputs;
}

function outputsOfEngine(scenario: Scenario, path: string): Output[] {
  const { plan } = checkProgram(programOf(scenario));
  if (plan === null) throw new Error(`${scenario.name} has errors`);
  const outputs: Output[] = [];
  const output = ({ stream, time, fields }: OutputEvent): void => void outputs.push({ stream, time, fields: Object.fromEntries(fields) });
  const engine = createEngine(plan, { output });
  const lines = EventLines.open(path, { schemas: new EventSchemas(plan.events), preload: false, canResume: false });
  for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
    for (const result of piece.results) if (result.kind === 'event') engine.push(result.event);
  }
  lines.close();
  engine.end();
  return outputs;
}

/** Bound and engine may round in different places. */
function rounded(outputs: readonly Output[]): unknown {
  return JSON.parse(JSON.stringify(outputs, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(11)) : value)));
}

describe.each(scenarios)('the bound of $name', (scenario) => {
  it('gives what the program gives, also where windows are open at the end', () => {
    const events = scenario.share === undefined ? 6_210 : 1_234;
    const path = join(folder, `${scenario.name}.evt`);
    writeEvents(scenario, events, path);
    const expected = rounded(outputsOfEngine(scenario, path));
    expect(expected).not.toEqual([]);
    expect(rounded(outputsOfBound(scenario, path))).toEqual(expected);
  });
});

describe('the line cursor', () => {
  const cursor = (text: string): LineCursor => {
    const line = new LineCursor();
    line.load(Buffer.from(text));
    return line;
  };

  it.each(['0', '7', '-12', '40.0', '0.1', '107.30000000000001', '-1e-7', '123456789012345', '1e21', '0.30000000000000004'])(
    'reads %s as JavaScript does',
    (text) => {
      expect(cursor(`xy: ${text} }\n`).number(new Words('xy: '))).toBe(Number(text));
    },
  );

  it('reads a line value by value', () => {
    const line = cursor('@12 T { s: "one", x: 5 }\n@13 T { s: "one", x: 6 }\n');
    const values: unknown[] = [];
    while (line.hasMore()) {
      values.push(
        line.time(),
        String.fromCharCode(line.type()),
        line.names.text(line.name(new Words('T { s: "'))),
        line.number(new Words(', x: ')),
      );
      line.endLine();
    }
    expect(values).toEqual([12, 'T', 'one', 5, 13, 'T', 'one', 6]);
  });

  it('refuses a line that does not end where it should', () => {
    const line = cursor('@1 T { x: 5, y: 6 }\n');
    line.time();
    line.number(new Words('T { x: '));
    expect(() => line.endLine()).toThrow('not a line of this scenario');
  });

  it.each(['T { x: ', 'T { s: ', 'T { x: "', 'U { x:  '])('refuses words other than %s', (words) => {
    const line = cursor('T { x: 5 }\n');
    if (words === 'T { x: ') expect(line.number(new Words(words))).toBe(5);
    else expect(() => line.number(new Words(words))).toThrow('not a line of this scenario');
  });

  it('refuses lines that are cut off', () => {
    writeFileSync(join(folder, 'cut.evt'), '@1 Tick { symbol: "A\n');
    const [filter] = scenarios as readonly [Scenario];
    expect(() => runBound(filter.bound, join(folder, 'cut.evt'), () => undefined)).toThrow('not a line of this scenario');
  });
});

describe('interned names', () => {
  it('have the same number for the same bytes, however many there are', () => {
    const names = new Names();
    const idOf = (text: string): number => names.idOf(Buffer.from(`..${text}..`), 2, 2 + Buffer.byteLength(text));
    const texts = Array.from({ length: 5_000 }, (_, i) => `nämé-${i}`);
    expect(texts.map(idOf)).toEqual(texts.map((_, i) => i));
    expect(texts.map(idOf)).toEqual(texts.map((_, i) => i));
    expect(names.text(4_321)).toBe('nämé-4321');
    expect(names.size).toBe(5_000);
    expect(idOf('')).toBe(5_000);
  });
});
