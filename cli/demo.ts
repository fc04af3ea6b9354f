import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { ResultCommand } from './command.ts';
import { runUntilInterrupted } from './interruption.ts';
import { wholeNumber, wholeNumberIn } from './whole-number.ts';

const PORT_MAX = 65_535;

export class DemoCommand extends ResultCommand {
  static override paths = [['demo']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Watch the rules of a building at work',
    details:
      'Starts a server inside the command, deploys the rules of a building and feeds it a hundred events a second. Prints the alerts, how ' +
      'things are, and at the end what was found. Ctrl+C ends it early, with the summary. The same seed gives the same events. Ends ' +
      'with 0, and with 4 when the metrics port is taken.',
    examples: [
      ['With something to find', '$0 demo --duration 20 --anomalies --degradation'],
      ['With metrics for Prometheus', '$0 demo --metrics --metrics-port 9090'],
    ],
  });

  duration = Option.String('-d,--duration', '60', { description: 'Seconds (60)' });
  anomalies = Option.Boolean('--anomalies', false, { description: 'Put zones that overheat and doors that are forced among the events' });
  degradation = Option.Boolean('--degradation', false, { description: 'Let the cooling of a zone wear out' });
  metrics = Option.Boolean('--metrics', false, { description: 'Serve metrics, as cep server does' });
  metricsPort = Option.String('--metrics-port', '9090', { description: 'Port of the metrics (9090)' });
  seed = Option.String('--seed', '1', { description: 'Another number gives other events (1)' });

  override async run(): Promise<number> {
    const metricsPort = wholeNumberIn('--metrics-port', this.metricsPort, [0, 65_535]);
    if (metricsPort > PORT_MAX) throw new CepError('usage_error', `--metrics-port: expected at most ${PORT_MAX}, found ${metricsPort}`);
    const settings = {
      durationSeconds: wholeNumber('--duration', this.duration, 1),
      hasAnomalies: this.anomalies,
      hasDegradation: this.degradation,
      metricsPort: this.metrics ? metricsPort : undefined,
      seed: wholeNumber('--seed', this.seed, 0),
      isJson: this.json,
    };
    const { DemoRun } = await import('./demo/demo-run.ts'); // Help and completion do without it.
    return runUntilInterrupted(async (interrupt) => {
      await new DemoRun(settings, this.context).run(interrupt);
      return 0;
    });
  }
}
