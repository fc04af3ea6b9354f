/** One load on a server until SIGTERM: `<url> <key> <name of the load>`. */
import { setMaxListeners } from 'node:events';
import { setPriority } from 'node:os';
import { loads } from './loads.ts';
import { askWith } from './served.ts';

const [url = '', key = '', name = ''] = process.argv.slice(2);
// It stands for another machine, so it takes only the time that server and neighbour leave.
setPriority(19);
const stop = new AbortController();
// Hundreds of requests under way end with it.
setMaxListeners(0, stop.signal);
process.on('SIGTERM', () => stop.abort());
// Whatever becomes of its last requests, they are nobody's concern.
await loads[name]?.({ url, key, ask: askWith(url, key), stop: stop.signal }).catch(() => undefined);
process.exit();
