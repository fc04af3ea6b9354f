/** The process `cep`: standard streams, arguments and environment in, exit code out. */
import { Cli } from 'clipanion';
import { byDefaultOnLostOutput } from './lost-output.ts';
import { reportError } from './report-error.ts';
import { runCli } from './run-cli.ts';

const context = Cli.defaultContext;

byDefaultOnLostOutput(process.stdout, (problem) => process.exit(problem && reportError(problem, context)));

// What is said there is no result: whoever works goes on when nobody hears of it.
process.stderr.on('error', () => undefined);

void runCli(process.argv.slice(2), context).then((exitCode) => {
  process.exitCode = exitCode;
});
