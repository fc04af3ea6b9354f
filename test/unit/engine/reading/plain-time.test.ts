import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readPlainTime } from '../../../../shared/events/event-time.ts';
import { PlainTimes, plainTimeBytes } from '../../../../worker/engine/reading/plain-time.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(`"${text}"\n........................`);

/** A time with one or two characters replaced. */
const written = fc
  .tuple(
    fc.date({ noInvalidDate: true, min: new Date(-62_167_219_200_000), max: new Date(253_402_300_799_999) }),
    fc.boolean(),
    fc.array(fc.tuple(fc.nat(23), fc.constantFrom(...'0123456789-:TZ.t"x')), { maxLength: 2 }),
  )
  .map(([date, isShort, changes]) => {
    const characters = [...(isShort ? date.toISOString().replace(/\.\d+/, '') : date.toISOString())];
    for (const [at, character] of changes) if (at < characters.length) characters[at] = character;
    return characters.join('');
  });

it('a time in one of the usual forms is what the general reader takes it for', () => {
  const plainTimes = new PlainTimes();
  let times = 0;
  const property = fc.property(written, (text) => {
    const [quoted = ''] = text.split('"');
    const bytes = bytesOf(quoted);
    const time = plainTimes.read(bytes, new DataView(bytes.buffer), 1);
    expect(time, text).toBe(readPlainTime(quoted) ?? Number.NaN);
    if (Number.isNaN(time)) return;
    times++;
    expect(bytes[plainTimeBytes(bytes, 1)]).toBe('"'.charCodeAt(0));
  });
  fc.assert(property, { numRuns: 10_000 });
  expect(times).toBeGreaterThan(2_000);
});
