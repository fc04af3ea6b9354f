import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EventLines } from '../../../cli/event-files/event-lines.ts';
import { checkProgram } from '../../../cli/program/checked-program.ts';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { runBound } from '../../bench/bounds/bound.ts';
import { lineReader } from '../../bench/bounds/line-reader.ts';
import { Names } from '../../bench/bounds/names.ts';
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

describe('the reader of a bound', () => {
  const read = (text: string): unknown[] => {
    const names = new Names();
    const values: unknown[] = [];
    const lines = lineReader(
      [
        { type: 'T', fields: { s: 'name', x: 'number' }, take: (time, s = -1, x = 0) => values.push('T', time, names.text(s), x) },
        { type: 'U', fields: { y: 'number' }, take: (time, y = 0) => values.push('U', time, y) },
      ],
      names,
    )(Buffer.from(text), Buffer.byteLength(text));
    return [...values, lines];
  };

  it.each(['0', '7', '-12', '40.0', '0.1', '107.30000000000001', '-1e-7', '123456789012345', '1e21', '0.30000000000000004'])(
    'reads %s as JavaScript does',
    (text) => {
      expect(read(`@1 U { y: ${text} }\n`)).toEqual(['U', 1, Number(text), 1]);
    },
  );

  it('reads line after line, whichever type comes', () => {
    const text = '@12 T { s: "one", x: 5 }\n@13 U { y: 7 }\n@14 T { s: "two", x: 6 }\n';
    expect(read(text)).toEqual(['T', 12, 'one', 5, 'U', 13, 7, 'T', 14, 'two', 6, 3]);
  });

  it.each([
    '@1 V { y: 1 }\n',
    '1 U { y: 1 }\n',
    '@1 U { z: 1 }\n',
    '@1 U { y: 1, z: 2 }\n',
    '@1 T { s: "a\\"b", x: 1 }\n',
    '@1 U { y: 1  }\n',
  ])('refuses %j', (line) => {
    expect(() => read(line)).toThrow('not a line of this scenario');
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
