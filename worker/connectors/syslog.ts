import { CepError } from '../../shared/errors/error.ts';
import type { ConnectorEnvironment, ConnectorType, ConnectorUse, SourceSettings } from './connector.ts';
import { textParameter } from './parameters.ts';
import { SyslogSource, type SyslogSourceOptions } from './syslog/syslog-source.ts';

const LISTEN = '127.0.0.1:5514';
const TYPE = 'Syslog';

/** Messages of syslog, which others send to a port of this process. */
export const syslogConnector: ConnectorType = {
  name: 'syslog',
  openSource: (settings, environment) =>
    new SyslogSource({ ...placeOf(settings, environment), now: Date.now, topicPart: settings.topic ?? TYPE }),
  async *test(use, environment) {
    const { host, port, protocol } = placeOf(use, environment);
    yield { name: 'settings', run: async () => `it will listen on ${host}:${port} (${protocol}), and connects to nothing` };
  },
};

/** @throws CepError `connector_error` */
function placeOf(
  { name, parameters }: Pick<ConnectorUse & SourceSettings, 'name' | 'parameters'>,
  { mayListen = false }: ConnectorEnvironment,
): Pick<SyslogSourceOptions, 'host' | 'port' | 'protocol'> {
  if (!mayListen) {
    throw new CepError('connector_error', `connector '${name}': programs of tenants open no ports`, {
      hint: 'deploy it with the key of the server, or send the messages to a webhook (type http)',
    });
  }
  const listen = textParameter(parameters, 'listen') ?? LISTEN;
  const [, host = '', port = ''] = /^(\[[\da-f:.]+\]|[^\s:[\]/]+):(\d{1,5})$/i.exec(listen) ?? [];
  if (host === '' || Number(port) > 65_535) {
    throw new CepError('connector_error', `connector '${name}': found listen '${listen}', expected an address and a port`, {
      hint: `write listen: "${LISTEN}", or "0.0.0.0:514" for all addresses`,
    });
  }
  const protocol = textParameter(parameters, 'protocol') === 'tcp' ? 'tcp' : 'udp';
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port), protocol };
}
