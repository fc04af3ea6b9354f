import { describe, expect, it } from 'vitest';
import { type ConfigSources, resolveConfig } from '../../../shared/config/config.ts';
import { type ConfigKey, type ConfigName, configKeys } from '../../../shared/config/keys.ts';
import { type FileSettings, parseConfig } from '../../../shared/config/parse.ts';

const file = (text: string): FileSettings => parseConfig({ file: 'cep.yaml', text, format: 'yaml' });

function setting(sources: ConfigSources, name: ConfigName): unknown {
  const found = resolveConfig(sources).settings.find(({ key }) => key.name === name);
  return [found?.value, found?.origin, found?.where];
}

describe('a setting', () => {
  const everywhere = {
    flags: { 'server.port': '1' },
    environment: { CEP_SERVER_PORT: '2' },
    file: file('server:\n  port: 3\n'),
  };

  it('comes from the flag, else the environment, else the file, else the default', () => {
    const { flags, environment, file } = everywhere;
    expect(setting({ flags, environment, file }, 'server.port')).toEqual([1, 'flag', '--port']);
    expect(setting({ environment, file }, 'server.port')).toEqual([2, 'environment', 'CEP_SERVER_PORT']);
    expect(setting({ file }, 'server.port')).toEqual([3, 'file', 'cep.yaml:2:9']);
    expect(setting({}, 'server.port')).toEqual([9000, 'default', undefined]);
  });

  it('may be given by a flag as false or 0', () => {
    expect(setting({ flags: { 'metrics.enabled': false }, environment: { CEP_METRICS_ENABLED: 'true' } }, 'metrics.enabled')).toEqual([
      false,
      'flag',
      '--metrics',
    ]);
    expect(setting({ flags: { 'server.rate_limit': 0 }, environment: { CEP_RATE_LIMIT: '5' } }, 'server.rate_limit')).toEqual([
      0,
      'flag',
      '--rate-limit',
    ]);
  });

  it('is not set by an undefined flag or an empty variable', () => {
    expect(setting({ flags: { 'server.port': undefined }, environment: { CEP_SERVER_PORT: '' } }, 'server.port')).toEqual([
      9000,
      'default',
      undefined,
    ]);
  });

  it('has no value when nothing sets it and it has no default', () => {
    expect(setting({}, 'processing.workers')).toEqual([undefined, 'default', undefined]);
  });

  it.each([
    ['CEP_METRICS_ENABLED', '1', 'metrics.enabled', true],
    ['CEP_METRICS_ENABLED', 'false', 'metrics.enabled', false],
    ['CEP_RATE_LIMIT', '0.5', 'server.rate_limit', 0.5],
    ['CEP_WORKER_ID', '17', 'server.worker_id', '17'],
  ] as const)('is read from the text of %s=%s as its own type', (variable, text, name, value) => {
    expect(setting({ environment: { [variable]: text } }, name)).toEqual([value, 'environment', variable]);
  });

  it('is typed by its name', () => {
    const config = resolveConfig({ environment: { CEP_SERVER_PORT: '81' } });
    const port: number = config.get('server.port');
    const workers: number | undefined = config.get('processing.workers');
    expect([port, workers]).toEqual([81, undefined]);
  });
});

describe('a setting that is a time', () => {
  it.each(['client:\n  timeout: 5\n', 'client:\n  timeout: "5"\n', 'client: {timeout: 5.0}\n'])('is a number of seconds in %j', (text) => {
    expect(resolveConfig({ file: file(text) }).get('client.timeout')).toBe('5');
  });

  it('is a text such as a duration anywhere', () => {
    expect(resolveConfig({ file: file('client:\n  timeout: 500ms\n') }).get('client.timeout')).toBe('500ms');
    expect(resolveConfig({ environment: { CEP_CHECKPOINT_INTERVAL: '0.5' } }).get('server.checkpoint_interval')).toBe('0.5');
  });

  it('is refused where it is read, whoever asks for it', () => {
    expect(() => file('client:\n  timeout: -5\n')).toThrow(/found the number -5, expected seconds/);
    for (const variable of ['CEP_TIMEOUT', 'CEP_CHECKPOINT_INTERVAL'])
      expect(() => resolveConfig({ environment: { [variable]: 'abc' } })).toThrow(
        expect.objectContaining({
          code: 'config_error',
          message: `${variable}: found the text 'abc', expected seconds or a duration such as 500ms, below 25 days`,
        }),
      );
  });
});

describe('a bad setting', () => {
  it.each([
    ['9x', "CEP_SERVER_PORT: found the text '9x', expected an integer from 0 to 65535"],
    ['1e3', "CEP_SERVER_PORT: found the text '1e3', expected an integer from 0 to 65535"],
    ['-1', "CEP_SERVER_PORT: found the text '-1', expected an integer from 0 to 65535"],
  ])('in the environment, %s, is a configuration error', (text, message) => {
    expect(() => resolveConfig({ environment: { CEP_SERVER_PORT: text } })).toThrow(
      expect.objectContaining({ code: 'config_error', message }),
    );
  });

  it('from a flag is a usage error', () => {
    expect(() => resolveConfig({ flags: { 'processing.workers': 'many' } })).toThrow(
      expect.objectContaining({ code: 'usage_error', message: "--workers: found the text 'many', expected an integer of at least 1" }),
    );
  });

  it('does not hide another one', () => {
    const sources = { flags: { 'server.port': 'a' }, environment: { CEP_LOGGING_LEVEL: 'loud', CEP_METRICS_PORT: 'b' } };
    expect(() => resolveConfig(sources)).toThrow(
      expect.objectContaining({
        code: 'usage_error',
        message: expect.stringMatching(/^--port: .*\nCEP_METRICS_PORT: .*\nCEP_LOGGING_LEVEL: .*$/),
      }),
    );
  });
});

describe('the deprecated mqtt section', () => {
  it('gives one warning that names its place and what to write instead', () => {
    const config = resolveConfig({ file: file('server: {}\nmqtt:\n  broker: localhost\n  qos: 1\n') });
    expect(config.warnings).toEqual([
      "cep.yaml:3:11: section 'mqtt' is deprecated and has no effect; declare a connector in the program and read from it with .from()",
    ]);
    expect(config.get('mqtt.broker')).toBe('localhost');
  });

  it('gives no warning when it is not used', () => {
    expect(resolveConfig({}).warnings).toEqual([]);
  });
});

describe('a variable of the environment that is none', () => {
  it.each([
    ['CEP_SERVER_API_KEY', 'CEP_API_KEY'],
    ['CEP_SERVER_TLS_CERT', 'CEP_TLS_CERT'],
    ['CEP_SERVER_RATE_LIMIT', 'CEP_RATE_LIMIT'],
    ['CEP_APIKEY', 'CEP_API_KEY'],
    ['CEP_METRIC_AUTH', 'CEP_METRICS_AUTH'],
  ])('is told of, with the one that was meant: %s', (given, meant) => {
    const { warnings } = resolveConfig({ environment: { [given]: 'very-secret-1' } });
    expect(warnings).toEqual([`${given} is no setting, and has no effect: did you mean ${meant}?`]);
  });

  it('is left alone when it is empty, is like no setting, or is not for us', () => {
    const environment = {
      CEP_SERVER_API_KEY: '',
      CEP_NATS_PORT: '4222',
      // Kubernetes says this of services `cep` and `cep-worker`.
      CEP_SERVICE_PORT: '80',
      CEP_WORKER_PORT: 'tcp://10.0.0.1:80',
      CEP_DATA_DIR: '/srv/cep',
      CEP_SERVER_URL: 'http://cep:9000',
      CEP_CONFIG: 'a',
      CEP_NEW_MASTER_KEY: 'b',
      CEPHALOPOD: 'c',
      PATH: 'd',
    };
    expect(resolveConfig({ environment }).warnings).toEqual([]);
  });

  it('is none of the table', () => {
    const environment = Object.fromEntries(configKeys.map((key: ConfigKey) => [key.environment, sampleOf(key)]));
    expect(resolveConfig({ environment }).warnings.filter((warning) => warning.includes('no setting'))).toEqual([]);
  });
});

function sampleOf({ type, oneOf, min, default: value, example }: ConfigKey): string {
  return String(
    oneOf?.[0] ?? value ?? example ?? { integer: min ?? 1, number: min ?? 1, boolean: 'true', string: 'a', interval: '5s' }[type],
  );
}

describe('the table of settings', () => {
  const keys: readonly ConfigKey[] = configKeys;

  it('has every key of a file', () => {
    const names = keys.filter((key) => key.inFile !== false).map((key) => key.name);
    expect(names).toEqual([
      ...['workers', 'partition_by', 'batch_size', 'strict_events'].map((key) => `processing.${key}`),
      ...['broker', 'port', 'input_topic', 'output_topic', 'client_id', 'qos', 'tls'].map((key) => `mqtt.${key}`),
      ...['port', 'bind', 'api_key_file', 'allowed_hosts'].map((key) => `server.${key}`),
      ...['server', 'coordinator', 'api_key_file', 'tls_ca', 'timeout'].map((key) => `client.${key}`),
      ...['enabled', 'port'].map((key) => `metrics.${key}`),
      ...['level', 'format', 'timestamps'].map((key) => `logging.${key}`),
    ]);
  });

  it('names every setting and every variable once', () => {
    for (const column of [keys.map((key) => key.name), keys.map((key) => key.environment)])
      expect(new Set(column).size).toBe(column.length);
  });

  it('says what the absence of a value means wherever there is no default', () => {
    expect(keys.filter((key) => (key.default === undefined) !== (key.unset !== undefined))).toEqual([]);
  });
});
