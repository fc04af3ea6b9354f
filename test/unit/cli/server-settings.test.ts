import { describe, expect, it } from 'vitest';
import { readServerSettings } from '../../../cli/serving/server-settings.ts';
import { resolveConfig } from '../../../shared/config/config.ts';

describe('the names by which a server may be asked for', () => {
  const hostsOf = async (environment: Record<string, string>) =>
    (await readServerSettings(resolveConfig({ environment }), undefined)).allowedHosts;
  const worker = { CEP_COORDINATOR: 'http://c1:9100', CEP_ADVERTISE_ADDRESS: 'http://w1.workers:9000' };
  const key = { CEP_API_KEY: 'the-key-of-the-cluster' };

  it('are those that are named, and of a worker the one that it is reached by, where not all are taken', async () => {
    expect(await hostsOf({ ...worker, ...key })).toEqual([]);
    expect(await hostsOf(worker)).toEqual(['w1.workers']);
    expect(await hostsOf({ ...worker, ...key, CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example', 'w1.workers']);
    expect(await hostsOf({ ...key, CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example']);
    expect(await hostsOf({})).toEqual([]);
  });
});
