/** The process `cep`: standard streams, arguments and environment in, exit code out. */
import { Cli } from 'clipanion';
import { runCli } from './run-cli.ts';

/** Who reads our output may stop reading, as `head` does; then there is nothing left to do. */
function endWhenReaderIsGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

process.stdout.on('error', endWhenReaderIsGone);
process.stderr.on('error', endWhenReaderIsGone);

void runCli(process.argv.slice(2), Cli.defaultContext).then((exitCode) => {
  process.exitCode = exitCode;
});
