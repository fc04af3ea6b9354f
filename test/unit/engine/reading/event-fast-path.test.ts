import { describe, expect, it } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { Duration, Timestamp, type Value } from '../../../../shared/events/value.ts';
import { BOOL, DURATION, FLOAT, INT, STR, TIMESTAMP } from '../../../../shared/language/plan/types.ts';
import { EventFastPath } from '../../../../worker/engine/reading/event-fast-path.ts';
import { recording } from './entries.ts';

const TYPES = { Tick: { symbol: STR, price: FLOAT, volume: INT, 'ok-': BOOL }, Login: { 'at-': TIMESTAMP, held: DURATION } };
const TICK: Readonly<Record<string, Value>> = { symbol: 'A', price: 1.5, volume: 7, ok: true };

function pushed(type: string, fields: Readonly<Record<string, Value>>, timestamp?: number): readonly (string | boolean)[] {
  const { entries, seen } = recording(TYPES);
  return [new EventFastPath(entries).push(eventOf(type, fields, timestamp)), ...seen];
}

function eventOf(type: string, fields: Readonly<Record<string, Value>>, timestamp?: number): InputEvent {
  return { type, fields: new Map(Object.entries(fields)), fallbackTime: 5, ...(timestamp === undefined ? {} : { timestamp }) };
}

describe('a door for events that are objects', () => {
  it('lets plain events in, with the fields in any order', () => {
    expect(pushed('Tick', TICK)).toEqual([true, 'Tick ~5 A 1.5 7']);
    expect(pushed('Tick', { ok: false, volume: 8, symbol: '', price: 2 }, 9)).toEqual([true, 'Tick 9  2 8']);
  });

  it('takes the time of a declared timestamp, unless the envelope states one', () => {
    expect(pushed('Login', { at: 3, held: 250 })).toEqual([true, 'Login 3000 250']);
    expect(pushed('Login', { at: '1970-01-01T00:00:04Z', held: 250 })).toEqual([true, 'Login 4000 250']);
    expect(pushed('Login', { at: new Timestamp(5000), held: new Duration(1) })).toEqual([true, 'Login 5000 1']);
    expect(pushed('Login', { at: 3, held: 250 }, 9)).toEqual([true, 'Login 9 250']);
  });

  it.each([
    ['a field is missing', { symbol: 'A', price: 1.5, volume: 7 }],
    ['a field is null', { ...TICK, price: null }],
    ['a field is not declared', { ...TICK, other: 1 }],
    ['another name stands for a declared one', { symbol: 'A', price: 1.5, volume: 7, OK: true }],
    ['an int has a fraction', { ...TICK, volume: 7.5 }],
    ['an int is unsafe', { ...TICK, volume: 2 ** 53 }],
    ['a number is not finite', { ...TICK, price: Number.NaN }],
    ['a number is infinite', { ...TICK, price: Number.POSITIVE_INFINITY }],
    ['a text is no text', { ...TICK, symbol: 5 }],
    ['a text is long', { ...TICK, symbol: 'x'.repeat(300_000) }],
    ['a field that nothing reads is of another kind', { ...TICK, ok: 'yes' }],
  ])('leaves an event alone when %s', (_, fields) => {
    expect(pushed('Tick', fields)).toEqual([false]);
  });

  it('leaves an event alone whose type or time is not as it should be, or that came through a binding of others', () => {
    expect(pushed('Other', TICK)).toEqual([false]);
    expect(pushed('toString', TICK)).toEqual([false]);
    expect(pushed('Tick', TICK, Number.NaN)).toEqual([false]);
    expect(pushed('Login', { at: 'yesterday', held: 1 })).toEqual([false]);
    expect(pushed('Login', { at: 3, held: '5m' })).toEqual([false]);
    const { entries, seen } = recording(TYPES);
    const event = eventOf('Tick', TICK);
    expect(new EventFastPath(entries).push({ ...event, source: { id: 'kafka/ticks' } })).toBe(false);
    expect(seen).toEqual([]);
  });

  it('hands out the event that is being entered', () => {
    const { entries } = recording(TYPES);
    const whole: unknown[] = [];
    for (const entry of entries.entries) Object.assign(entry, { enter: () => whole.push(entries.source?.()) });
    const event = eventOf('Tick', TICK, 9);
    new EventFastPath(entries).push(event);
    expect(whole).toEqual([event]);
  });
});
