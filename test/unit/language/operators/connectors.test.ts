import { describe, expect, test } from 'vitest';
import {
  connectors,
  connectorTypes,
  findConnector,
  findConnectorParameter,
  parametersOf,
} from '../../../../shared/language/connectors/table.ts';

describe('the table of connector types', () => {
  test('gives each type and alias to one descriptor', () => {
    expect(new Set(connectorTypes).size).toBe(connectorTypes.length);
    expect(findConnector('redis_stream')?.name).toBe('redis');
    expect(findConnector('rest')?.name).toBe('http');
    expect(findConnector('kafak')).toBeUndefined();
  });

  test.each(connectors.map((connector) => [connector.name, connector] as const))(
    '%s names its parameters once and knows its topics',
    (_, connector) => {
      const names = parametersOf(connector).flatMap((parameter) => [parameter.name, ...(parameter.aliases ?? [])]);
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
      for (const topic of connector.topics) expect(findConnectorParameter(connector, topic)).toBeDefined();
      for (const name of connector.oneOf.flat()) expect(findConnectorParameter(connector, name)).toBeDefined();
      expect(findConnectorParameter(connector, 'topic')).toBeDefined();
    },
  );

  test('keeps secrets out of sight', () => {
    const secret = (type: string, name: string): boolean | undefined => {
      const connector = findConnector(type);
      return connector && findConnectorParameter(connector, name)?.secret;
    };
    for (const type of ['mqtt', 'redis', 'nats']) expect(secret(type, 'password')).toBe(true);
    expect(secret('kafka', 'sasl_password')).toBe(true);
    expect(secret('postgres', 'url')).toBe(true);
    expect(secret('kafka', 'topic')).toBeUndefined();
  });
});
