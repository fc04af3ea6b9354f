import type { ConnectorType } from './connector.ts';
import { textParameter } from './parameters.ts';

/** Lines on the terminal: the label, and the message as JSON. */
export const consoleConnector: ConnectorType = {
  name: 'console',
  openSink: ({ name, parameters }, environment) => {
    const label = textParameter(parameters, 'topic') ?? name;
    return {
      send: async ({ topic, payload }) => environment.console(`${topic ?? label}: ${payload}`),
      close: async () => undefined,
    };
  },
  async *test() {
    yield { name: 'terminal', run: async () => 'there is nothing to reach: lines go to the standard output of the process' };
  },
};
