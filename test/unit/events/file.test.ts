import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { readEvents } from '../../../shared/events/event-reader.ts';
import { readEventFile } from '../../../shared/events/file.ts';
import { briefly, read } from './reading.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-events-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function failure(path: string): unknown {
  try {
    return [...readEventFile(path)];
  } catch (error) {
    return error instanceof CepError ? [error.code, error.exitCode, error.message] : error;
  }
}

describe('an event file', () => {
  it('is read line by line as it is asked for', () => {
    const path = file(
      'many.evt',
      Array.from({ length: 50_000 }, (_, index) => `@${index} A { x: ${index}, name: "event ${index}" }\n`).join(''),
    );
    const seen: unknown[] = [];
    for (const result of readEventFile(path)) {
      seen.push(result.kind === 'event' && result.event.fields.get('x'));
      if (seen.length === 40_000) break;
    }
    expect(seen).toEqual(Array.from({ length: 40_000 }, (_, index) => index));
    expect([...readEventFile(path)]).toHaveLength(50_000);
  });

  it('may be empty', () => {
    expect([...readEventFile(file('empty.evt', ''))]).toEqual([]);
  });

  it('that does not exist ends the command with exit code 2', () => {
    const path = join(folder, 'absent.evt');
    expect(failure(path)).toEqual(['file_not_found', 2, `event file '${path}' not found`]);
  });

  it('that cannot be read ends the command with exit code 2', () => {
    expect(failure(folder)).toEqual(['io_error', 2, expect.stringContaining(`event file '${folder}' cannot be read`)]);
  });
});

describe('the format of an event file', () => {
  const json = '{"event_type": "A", "timestamp": 1769853600}\n{"event_type": "A"}\n';

  it('is told by its extension, in any case', () => {
    expect(briefly('.JSONL', json)).toEqual(briefly('ndjson', json));
    expect(briefly('.EVT', '@5 A {}')).toEqual(['A@5 {}']);
    expect(read('.jsonl', '@5 A {}')[0]?.kind).toBe('unreadable');
  });

  it('differs in the time of an event without one', () => {
    expect(briefly('.jsonl', json)[1]).toBe('A@1769853600000 {}');
    expect(briefly('.evt', json)[1]).toBe('A@0 {}');
  });

  it('is told by the content when the extension says nothing', () => {
    expect(briefly('.txt', `\ufeff\n \t\r\n${json}`)).toEqual(briefly('.jsonl', json));
    expect(briefly('', '\n# note\n@5 A {}')).toEqual(['A@5 {}']);
    expect(read('.log', '\n\n')).toEqual([]);
    expect(read('.log', '')).toEqual([]);
  });

  it('is .evt when nothing but blanks stands in the first 64 KiB', () => {
    expect(briefly('', `${' \n'.repeat(40_000)}${json}`)[1]).toBe('A@0 {}');
    const reader = readEvents('');
    const blank = new Uint8Array(1000).fill(32);
    for (let count = 0; count < 100; count++) expect(reader.write(blank)).toEqual([]);
    expect(reader.end()).toEqual([]);
  });
});
