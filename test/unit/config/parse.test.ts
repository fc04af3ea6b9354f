import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ConfigKey, configKeys } from '../../../shared/config/keys.ts';
import { type ConfigFormat, configFormats, type FileSettings, parseConfig } from '../../../shared/config/parse.ts';
import { CepError } from '../../../shared/errors/error.ts';

function parse(format: ConfigFormat, text: string): Record<string, [unknown, string]> {
  const { settings }: FileSettings = parseConfig({ file: `cep.${format}`, text, format });
  return Object.fromEntries([...settings].map(([name, { value, where }]) => [name, [value, where]]));
}

function refusal(format: ConfigFormat, text: string): string {
  try {
    parse(format, text);
  } catch (error) {
    if (error instanceof CepError && error.code === 'config_error') return error.message;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('a YAML configuration', () => {
  it('gives values with the position of each', () => {
    expect(parse('yaml', 'server:\n  port: 9001\n  bind: 0.0.0.0\nprocessing: { strict_events: true }\n')).toEqual({
      'server.port': [9001, 'cep.yaml:2:9'],
      'server.bind': ['0.0.0.0', 'cep.yaml:3:9'],
      'processing.strict_events': [true, 'cep.yaml:4:30'],
    });
  });

  it('may be empty, hold comments only, or have empty sections', () => {
    for (const text of ['', '# nothing\n', '---\n', 'server:\n', 'server: {}\n']) expect(parse('yaml', text)).toEqual({});
  });

  it('may use anchors', () => {
    expect(parse('yaml', 'metrics: &m { port: 9191 }\nserver: *m\n')).toMatchObject({ 'server.port': [9191, 'cep.yaml:1:21'] });
  });

  it.each([
    ['server:\n  prot: 1\n', "cep.yaml:2:3: unknown key 'prot' in section 'server'; did you mean 'port'?"],
    [
      'server:\n  hostname: x\n',
      "cep.yaml:2:3: unknown key 'hostname' in section 'server'; keys are port, bind, api_key_file, allowed_hosts",
    ],
    ['sever:\n  port: 1\n', "cep.yaml:1:1: unknown section 'sever'; did you mean 'server'?"],
    ['database: {}\n', "cep.yaml:1:1: unknown section 'database'; sections are processing, mqtt, server, client, metrics, logging"],
    ['server: 9000\n', "cep.yaml:1:1: section 'server' holds a value, expected keys"],
    ['- a\n', 'cep.yaml:1:1: expected sections such as `server:`'],
    ['server:\n  port: "9000"\n', "cep.yaml:2:9: server.port: found the text '9000', expected an integer from 0 to 65535"],
    ['server:\n  port: 70000\n', 'cep.yaml:2:9: server.port: found the number 70000, expected an integer from 0 to 65535'],
    ['server:\n  port: 1.5\n', 'cep.yaml:2:9: server.port: found the number 1.5, expected an integer from 0 to 65535'],
    ['server:\n  port:\n', 'cep.yaml:2:8: server.port: found nothing, expected an integer from 0 to 65535'],
    ['server:\n  port: [1]\n', 'cep.yaml:2:9: server.port: found a list, expected an integer from 0 to 65535'],
    ['server:\n  bind: {a: 1}\n', 'cep.yaml:2:9: server.bind: found a table, expected a text that is not empty'],
    ['server:\n  bind: ""\n', "cep.yaml:2:9: server.bind: found the text '', expected a text that is not empty"],
    ['metrics:\n  enabled: yes\n', "cep.yaml:2:12: metrics.enabled: found the text 'yes', expected true or false"],
    ['processing:\n  workers: 0\n', 'cep.yaml:2:12: processing.workers: found the number 0, expected an integer of at least 1'],
    [
      'logging:\n  level: INFO\n',
      "cep.yaml:2:10: logging.level: found the text 'INFO', expected one of trace, debug, info, warn, error; did you mean 'info'?",
    ],
    ['server:\n  api_key: secret\n', "cep.yaml:2:3: 'server.api_key' is not read from files; set CEP_API_KEY or --api-key"],
    ['server:\n  port: 1\n  port: 2\n', 'cep.yaml:3:3: Map keys must be unique'],
    ['server:\n\tport: 1\n', 'cep.yaml:2:1: Tabs are not allowed as indentation'],
    ['server: *missing\n', "cep.yaml:1:9: unknown anchor 'missing'"],
  ])('is refused with position and reason: %j', (text, message) => {
    expect(refusal('yaml', text)).toBe(message);
  });

  it('is refused with everything that is wrong at once', () => {
    expect(refusal('yaml', 'server:\n  prot: 1\n  port: x\nlogs: {}\n').split('\n')).toHaveLength(3);
  });
});

describe('a TOML configuration', () => {
  it('gives values with the position of each', () => {
    const text =
      'metrics.port = 9191\nlogging = { level = "warn" }\n\n[server]\nport = 9001 # own port\n"bind" = "0.0.0.0"\n\n[processing]\nworkers=2\n';
    expect(parse('toml', text)).toEqual({
      'metrics.port': [9191, 'cep.toml:1:16'],
      'logging.level': ['warn', 'cep.toml:2:1'],
      'server.port': [9001, 'cep.toml:5:8'],
      'server.bind': ['0.0.0.0', 'cep.toml:6:10'],
      'processing.workers': [2, 'cep.toml:9:9'],
    });
  });

  it('finds the key of the right section when two sections share a name', () => {
    const text = '[metrics]\nport = 1\n[server]\nport = 70000\n';
    expect(refusal('toml', text)).toBe('cep.toml:4:8: server.port: found the number 70000, expected an integer from 0 to 65535');
  });

  it.each([
    ['[server]\nprot = 1\n', "cep.toml:2:1: unknown key 'prot' in section 'server'; did you mean 'port'?"],
    ['[sever]\nport = 1\n', "cep.toml:1:1: unknown section 'sever'; did you mean 'server'?"],
    ['server = 9000\n', "cep.toml:1:1: section 'server' holds a value, expected keys"],
    ['# list\n[[server]]\nport = 1\n', "cep.toml:2:1: section 'server' holds a value, expected keys"],
    ['[server]\nbind = 1979-05-27\n', 'cep.toml:2:8: server.bind: found a date, expected a text that is not empty'],
    ['[server]\nport = \n', 'cep.toml:2:8: invalid value'],
    ['[server]\nport = 1\nport = 2\n', 'cep.toml:3:1: trying to redefine an already defined table or value'],
  ])('is refused with position and reason: %j', (text, message) => {
    expect(refusal('toml', text)).toBe(message);
  });
});

describe('any value that fits its setting', () => {
  const keys = (configKeys as readonly ConfigKey[]).filter((key) => key.inFile !== false);

  it.each(configFormats)('is read back from %s as it was written', (format) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...keys).chain((key) => fc.tuple(fc.constant(key), fitting(key))),
        ([key, value]) => {
          const [section, name] = key.name.split('.');
          const text =
            format === 'toml' ? `[${section}]\n${name} = ${JSON.stringify(value)}\n` : `${section}:\n  ${name}: ${JSON.stringify(value)}\n`;
          expect(parse(format, text)[key.name]?.[0]).toBe(value);
        },
      ),
    );
  });

  function fitting(key: ConfigKey): fc.Arbitrary<number | string | boolean> {
    if (key.type === 'boolean') return fc.boolean();
    if (key.type === 'string') return key.oneOf ? fc.constantFrom(...key.oneOf) : fc.string({ minLength: 1 });
    if (key.type === 'interval') return fc.integer({ min: 1, max: 1_000 }).map((ms) => `${ms}ms`);
    return fc.integer({ min: key.min ?? 0, max: key.max ?? Number.MAX_SAFE_INTEGER });
  }
});
