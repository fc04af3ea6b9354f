/** Reads an event file whole, as `simulate` does before the first event: `<events>`. Prints the bytes of memory it takes, as JSON. */
import { EventLines } from '../../../cli/event-files/event-lines.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';

const [events = ''] = process.argv.slice(2);

const before = memoryInUse();
const lines = EventLines.open(events, { schemas: new EventSchemas([]), preload: true, canResume: false });
const bytes = memoryInUse() - before;
lines.close();
process.stdout.write(JSON.stringify({ bytes }));

function memoryInUse(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
