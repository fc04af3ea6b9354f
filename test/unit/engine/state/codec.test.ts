import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../shared/events/value.ts';
import { createEngine } from '../../../../worker/engine/create-engine.ts';
import type { EngineSnapshot } from '../../../../worker/engine/engine.ts';
import { count, flag, list, mapOf, number, orElse, orNull, pairs, record, stateOf, text } from '../../../../worker/engine/state/codec.ts';
import { planOf } from '../../../scenarios/run-program.ts';

const member = record({ time: number, names: list(text), last: orNull(count) });
const first = stateOf({ name: 'thing', version: 1, members: { byKey: mapOf(member), isOn: flag } });
const second = stateOf({
  name: 'thing',
  version: 2,
  members: { byKey: mapOf(member), isOn: flag, more: count },
  upgrade: { 1: (members) => [...members, 7] },
});
const thing = { byKey: new Map([['x', { time: -Infinity, names: ['a', 'b'], last: null }]]), isOn: true };

describe('a codec', () => {
  it('saves by position and loads by name', () => {
    expect(first.save(thing)).toEqual(['thing 1', new Map([['x', [-Infinity, ['a', 'b'], null]]]), true]);
    expect(first.load(first.save(thing))).toEqual(thing);
    const flat = pairs(text, count);
    expect(flat.load(flat.save([['a', 1]]))).toEqual([['a', 1]]);
  });

  it.each([
    ['nothing', undefined, "found nothing, expected the state of 'thing'"],
    ['a number', 5, 'found 5, expected a list'],
    ['another state', ['other 1', 5], 'found "other 1", expected the state of \'thing\''],
    ['a member too few', ['thing 1', new Map()], 'isOn: found nothing, expected true or false'],
    ['a member of another kind', ['thing 1', [], true], 'byKey: found a list of 0, expected a map'],
    ['no number', ['thing 1', new Map([['k', [Number.NaN, [], null]]]), true], 'byKey["k"].time: found NaN, expected a number'],
    ['no whole number', ['thing 1', new Map([['k', [1, [], 0.5]]]), true], 'byKey["k"].last: found 0.5, expected a whole number from 0 on'],
    ['no text', ['thing 1', new Map([['k', [1, ['a', new Map()], 1]]]), true], 'byKey["k"].names[1]: found a map of 0, expected a text'],
  ])('says of %s what was found, and in which member', (_what, saved, message) => {
    expect(() => first.load(saved as Value)).toThrow(new RegExp(`^${message.replaceAll(/[.[\]"]/g, '\\$&')}$`));
  });

  it('takes states of before they had a name, and those of earlier versions', () => {
    const [, ...members] = first.save(thing) as readonly Value[];
    expect(first.load(members)).toEqual(thing);
    expect(second.load(members)).toEqual({ ...thing, more: 7 });
    expect(second.load(first.save(thing))).toEqual({ ...thing, more: 7 });
    expect(record({ a: count, b: orElse(count, () => 3) }).load([1])).toEqual({ a: 1, b: 3 });
  });

  it('refuses states of later versions, and those that nothing brings up to date', () => {
    const later = second.save({ ...thing, more: 1 });
    expect(() => first.load(later)).toThrow("a state of 'thing' has version 2, and this version of cep reads up to 1");
    const third = stateOf({ name: 'thing', version: 3, members: { isOn: flag } });
    expect(() => third.load(later)).toThrow('found "thing 2", expected version 3 of it: earlier ones are not read any more');
  });
});

const program = 'event A:\n    k: str\nstream S = A.dedupe(k, within: 1m).emit(k: k)\n';

describe('an engine that restores what is damaged', () => {
  it.each([
    [5, 'found 5, expected a list'],
    [
      [['program 1', [1, 0, 0, -1], null, { m: [] }, 0], { m: [] }],
      'program.counters.outputs: found -1, expected a whole number from 0 on',
    ],
    [{ x: 1 }, 'found something that is no value as a snapshot holds it'],
  ])('%j: names the member', (state, message) => {
    const engine = createEngine(planOf(program), { output: () => undefined });
    const snapshot = { version: 1, state } as unknown as EngineSnapshot;
    expect(() => engine.restore(snapshot)).toThrow(`this is no state as an engine saves it: ${message}`);
  });

  it('names the stream and the operator', () => {
    const origin = createEngine(planOf(program), { output: () => undefined });
    origin.push({ type: 'A', timestamp: 5, fallbackTime: 5, fields: new Map([['k', 'x']]) });
    const snapshot = JSON.parse(JSON.stringify(origin.snapshot()).replace('"sx",5', '"sx",true')) as EngineSnapshot;
    const engine = createEngine(planOf(program), { output: () => undefined });
    expect(() => engine.restore(snapshot)).toThrow('stream S, `dedupe(k, within: 1m)`: keys[0].keys["sx"]: found true, expected a number');
  });

  it.each([
    ['[1,-1,0]]},{"m":["steps",[4', '[2,-1,0]]},{"m":["steps",[4', 'found 2, expected a whole number from 0 on, below 2'],
    ['[1,[0,[1,0]', '[9,[0,[1,0]', 'runs.state[0]: found 9, expected the index of an item below 2'],
    ['[0,[1,0],{', '[0,[1.5,0],{', 'runs.state[1].count: found 1.5, expected a whole number from 0 on'],
    ['[2,[{"m":["same",""', '[9007199254740991,[{"m":["same",""', 'runs.began: found a list of 2, expected a list of 9007199254740991'],
  ])('looks into the runs of a pattern: %s', (good, bad, found) => {
    const pattern = 'event A:\n    k: str\nstream S = A as a -> (A as b AND A as c) within 9s .emit(k: a.k)\n';
    const origin = createEngine(planOf(pattern), { output: () => undefined });
    for (let time = 1; time <= 5; time++) origin.push({ type: 'A', timestamp: time, fallbackTime: time, fields: new Map() });
    const saved = JSON.stringify(origin.snapshot());
    expect(saved).toContain(good);
    const engine = createEngine(planOf(pattern), { output: () => undefined });
    expect(() => engine.restore(JSON.parse(saved.replace(good, bad)) as EngineSnapshot)).toThrow(`stream S, its source: ${found}`);
  });
});
