import { describe, expect, it } from 'vitest';
import { isWhole } from '../../../worker/connectors/nats/whole-stream.ts';

describe('a consumer of a stream', () => {
  it.each([
    [{}, ['a.>', 'b'], true],
    [{ filter_subject: '' }, ['a.>'], true],
    [{ filter_subject: '>' }, ['a.>', 'b'], true],
    [{ filter_subject: 'a.>' }, ['a.>'], true],
    [{ filter_subject: 'a.>' }, ['a.>', 'b'], false],
    [{ filter_subject: 'a.x' }, ['a.>'], false],
    [{ filter_subject: 'a.>' }, undefined, false],
    [{ filter_subjects: ['a.x', 'a.y'] }, ['a.>'], false],
  ])('%j of one of the subjects %j is given all of it: %s', (config, subjects, isAll) => {
    expect(isWhole({ config: subjects === undefined ? {} : { subjects } }, { config })).toBe(isAll);
  });
});
