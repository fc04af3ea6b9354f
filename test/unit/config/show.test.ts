import { describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../shared/config/config.ts';
import { parseConfig } from '../../../shared/config/parse.ts';
import { configToJson, showConfig } from '../../../shared/config/show.ts';

const config = resolveConfig({
  flags: { 'processing.workers': 4 },
  environment: { CEP_API_KEY: 'k-123456' },
  file: parseConfig({ file: 'cep.toml', format: 'toml', text: '[server]\nport = 9001\n' }),
});

describe('showing the settings', () => {
  it('gives a line with value, origin and place for each', () => {
    const lines = showConfig(config).split('\n');
    expect(lines.filter((line) => /^(processing.workers|server.(port|bind|api_key ))/.test(line)).join('\n')).toMatchInlineSnapshot(`
      "processing.workers                  4                                                    flag         --workers
      server.port                         9001                                                 file         cep.toml:2:8
      server.bind                         127.0.0.1                                            default
      server.api_key                      ********                                             environment  CEP_API_KEY"
    `);
    expect(lines).toHaveLength(config.settings.length + 1);
  });

  it('gives the same as data', () => {
    const data = configToJson(config);
    expect(data['server.port']).toEqual({ value: 9001, origin: 'file', where: 'cep.toml:2:8' });
    expect(data['server.bind']).toEqual({ value: '127.0.0.1', origin: 'default' });
    expect(data['processing.partition_by']).toEqual({ value: null, origin: 'default' });
    expect(Object.keys(data)).toHaveLength(config.settings.length);
  });

  it.each([
    ['server.otlp_endpoint', 'https://u:pw123@h:4318/v1?region=eu', 'https://[REDACTED]@h:4318/v1?region=eu'],
    ['server.otlp_endpoint', 'https://h/v1?token=pw123', 'https://h/v1?token=[REDACTED]'],
    ['client.server', 'http://pw123@h:9000', 'http://[REDACTED]@h:9000'],
    ['coordinator.checkpoint_store', 's3://id:p@w123@b/p?region=eu', 's3://[REDACTED]@b/p?region=eu'],
    ['raft.peers', 'http://a:1,http://u:pw123@b:2', 'http://a:1,http://[REDACTED]@b:2'],
    ['coordinator.scaling_webhook_url', 'https://u:pw123@hooks.example:8443/T0/pw123?sig=pw123', 'https://hooks.example:8443/[REDACTED]'],
    ['coordinator.scaling_webhook_url', 'https://hooks.example', 'https://hooks.example/'],
    ['coordinator.scaling_webhook_url', 'hooks.example/pw123', '[REDACTED]'],
  ])('shows no secret that stands in %s', (name, value, shown) => {
    const set = resolveConfig({ flags: { [name]: value } });
    expect(configToJson(set)[name]).toMatchObject({ value: shown, origin: 'flag' });
    expect(
      showConfig(set)
        .split('\n')
        .find((line) => line.startsWith(`${name} `)),
    ).toContain(` ${shown} `);
  });

  it('never shows a secret, but that it is set', () => {
    expect(showConfig(config) + JSON.stringify(configToJson(config))).not.toContain('k-123456');
    expect(configToJson(config)['server.api_key']).toEqual({ value: '********', origin: 'environment', where: 'CEP_API_KEY' });
    expect(configToJson(resolveConfig({}))['server.api_key']).toEqual({ value: null, origin: 'default' });
  });
});
