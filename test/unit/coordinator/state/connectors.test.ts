import { describe, expect, it } from 'vitest';
import { bounds } from '../../../../coordinator/state/bounds.ts';
import { emptyState, type Json } from '../../../../coordinator/state/cluster-state.ts';
import { connectorProblem } from '../../../../coordinator/state/connector-problem.ts';
import { MasterKey } from '../../../../shared/security/credentials/master-key.ts';
import { seal } from '../../../../shared/security/credentials/sealed-text.ts';
import { step } from './commands.ts';

const sealed = seal('secret', MasterKey.parse('00'.repeat(32), 'key'), ['profile', 'password']);
const problem = (type: string, parameters: Record<string, Json>) => connectorProblem({ type, parameters });

describe('a connector', () => {
  it.each([
    ['kafka', { brokers: 'localhost:9092', topic: 'a' }],
    ['kafka', { brokers: ['a:1', 'b:2'], batch_size: 5, linger_ms: 0.5, ssl: true, compression: 'gzip' }],
    ['kafka', { profile: 'prod' }],
    ['http', { url: 'https://example.com/hook', timeout: '5s' }],
    ['rest', { base_url: 'https://example.com' }],
    ['mqtt', { host: 'a', password: sealed }],
    ['nats', { url: 'nats://a:4222', auth: { user: sealed, pass: sealed } }],
    ['console', {}],
  ])('of type %s is taken with %j', (type, parameters) => {
    expect(problem(type, parameters)).toBeUndefined();
  });

  it.each([
    ['kafak', {}, /no connector type 'kafak'/, /did you mean 'kafka'/],
    ['kafka', { brokers: 'a', topik: 'x' }, /no parameter 'topik'/, /did you mean 'topic'/],
    ['kafka', { topic: 'x' }, /needs brokers/, /profile/],
    ['kafka', { brokers: 5 }, /parameter 'brokers': expected a list of texts, or a text with commas, found 5/, undefined],
    ['kafka', { brokers: 'a', compression: 'zip' }, /expected one of none, gzip/, undefined],
    ['mqtt', { host: 'a', port: 1.5 }, /'port': expected a whole number, found 1.5/, undefined],
    ['http', { url: 'http://a', timeout: 'soon' }, /'timeout': expected a duration/, undefined],
    ['http', { url: 'http://a', timeout: '100d' }, /'timeout': expected 1ms to 24d, found 100d/, undefined],
    ['mqtt', { host: 'a', port: 70_000 }, /'port': expected 1 to 65535, found 70000/, undefined],
    [
      'http',
      { url: 'http://a', headers: { 'content-length': sealed } },
      /'headers': expected none of .*, found a header "content-length"/,
      undefined,
    ],
  ])('of type %s is refused with %j', (type, parameters, message, hint) => {
    const found = problem(type, parameters as Record<string, Json>);
    expect(found).toMatchObject({ code: 'validation_error', message: expect.stringMatching(message) });
    if (hint) expect(found?.hint).toMatch(hint);
  });

  const clear = 'hunter2-hunter2';

  it.each([
    ['mqtt', { host: 'a', password: clear }],
    ['kafka', { brokers: 'a', sasl_password: clear }],
    ['redis', { url: clear }],
    ['http', { url: 'https://a', headers: { authorization: clear } }],
    ['nats', { url: 'nats://a', auth: { user: sealed, pass: clear } }],
    ['nats', { url: `nats://user:${clear}@a:4222` }],
    ['nats', { servers: ['nats://b', `nats://user:${clear}@a:4222`] }],
    ['nats', { servers: `b:4222, user:${clear}@a:4222` }],
    ['nats', { url: `nats://${clear}@a:4222` }],
    ['kafka', { brokers: [`user:${clear}@a:9092`] }],
    ['http', { url: `https://a/hook?token=${clear}` }],
    ['websocket', { url: `wss://a/feed?access_token=${clear}` }],
    ['http', { url: `https://a/blob?sv=1&sig=${clear}` }],
    ['mqtt', { host: 'a', password: `${sealed} ${clear}` }],
    ['mqtt', { host: 'a', password: { [clear]: clear } }],
  ])('of type %s is refused with a secret in clear, which is not said: %j', (type, parameters) => {
    const found = problem(type, parameters as Record<string, Json>);
    expect(found?.code).toBe('validation_error');
    expect(JSON.stringify(found)).not.toContain(clear);
  });

  it('is refused when its parameters are too long, before anything looks into them', () => {
    expect(problem('kafka', { brokers: 'x'.repeat(bounds.connectorCharsMax) })?.message).toMatch(/have 16398 characters as JSON/);
  });

  it('keeps its place and its beginning when it is changed, and may be made anew when it is gone', () => {
    const definition = { name: 'a', type: 'kafka', parameters: { brokers: 'x' } };
    const made = step(emptyState, { command: { type: 'CreateConnector', payload: definition }, request: undefined, atMs: 5 });
    const changed = step(made.state, {
      command: { type: 'UpdateConnector', payload: { ...definition, parameters: { brokers: 'y' } } },
      request: undefined,
      atMs: 9,
    });
    expect(changed.result).toMatchObject({
      value: { version: 2, parameters: { brokers: 'y' }, createdIndex: 1, createdAtMs: 5, updatedAtMs: 9 },
    });
    expect(changed.events).toEqual([{ type: 'ConnectorUpdated', id: 'a' }]);
    const gone = step(changed.state, { command: { type: 'DeleteConnector', payload: { name: 'a' } }, request: undefined, atMs: 9 });
    const again = step(gone.state, { command: { type: 'CreateConnector', payload: definition }, request: undefined, atMs: 9 });
    expect(again.result).toMatchObject({ value: { version: 1, createdIndex: 4 } });
  });

  it('is refused when its parameters are too long', () => {
    const parameters = { topic: 'x'.repeat(bounds.connectorCharsMax) };
    const { result } = step(emptyState, {
      command: { type: 'CreateConnector', payload: { name: 'a', type: 'kafka', parameters } },
      request: undefined,
      atMs: 0,
    });
    expect(result).toMatchObject({ kind: 'refused', refusal: { code: 'validation_error' } });
  });
});
