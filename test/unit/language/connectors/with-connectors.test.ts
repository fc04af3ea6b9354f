import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkText } from '../../../../shared/language/check-text.ts';
import { withConnectors } from '../../../../shared/language/connectors/with-connectors.ts';

const program = 'stream Alerts = Reading\n    .where(value > 10)\n    .emit(value: value)\n    .to(Hook)\n';
const hook = {
  name: 'Hook',
  connector_type: 'http',
  params: { url: 'http://127.0.0.1:1/x', reset_timeout: '4s', headers: { 'x-a': 'b' } },
};

describe('connectors that are declared outside of a program', () => {
  it('are added behind it where it names them, so that the program is right', () => {
    expect(checkText(program).plan).toBeNull();
    const whole = withConnectors(program, [hook, { ...hook, name: 'Other' }]);
    expect(whole.startsWith(program)).toBe(true);
    expect(whole).toContain('connector Hook = http (url: "http://127.0.0.1:1/x", reset_timeout: 4s, headers: {"x-a": "b"})');
    expect(whole).not.toContain('Other');
    const { plan, diagnostics } = checkText(whole);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan?.connectors.map(({ name }) => name)).toEqual(['Hook']);
  });

  it('stay out where the program declares them itself, or does not name them', () => {
    const own = `connector Hook = console ()\n${program}`;
    expect(withConnectors(own, [hook])).toBe(own);
    expect(withConnectors('stream A = B\n', [hook])).toBe('stream A = B\n');
  });

  it('keep any text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const whole = withConnectors(program, [{ name: 'Hook', connector_type: 'kafka', params: { brokers: 'k:9092', topic: text } }]);
        expect(checkText(whole).plan?.connectors[0]?.parameters.get('topic')).toBe(text);
      }),
    );
  });
});
