import { visible } from '../../shared/telemetry/log-text.ts';
import type { ConnectorType } from './connector.ts';
import { textParameter } from './parameters.ts';

/** Lines on the terminal: the label, and the message as JSON. */
export const consoleConnector: ConnectorType = {
  name: 'console',
  openSink: ({ name, parameters }, environment) => {
    const label = textParameter(parameters, 'topic') ?? name;
    return {
      // Lines of a server's log may stand beside it: whoever sends events is to write no line that looks like one.
      send: async ({ topic, payload }) => environment.console(`${visible(topic ?? label)}: ${escapedJson(payload)}`),
      close: async () => undefined,
    };
  },
  async *test() {
    yield { name: 'terminal', run: async () => 'there is nothing to reach: lines go to the standard output of the process' };
  },
};

/** The same JSON without what a terminal takes for a command or a line end. The others are escaped in any JSON. */
function escapedJson(text: string): string {
  return text.replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
