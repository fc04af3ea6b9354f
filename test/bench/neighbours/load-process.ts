/** One load on a server until SIGTERM: `<url> <key> <name of the load>`. */
import { loads } from './loads.ts';
import { askWith } from './served.ts';

const [url = '', key = '', name = ''] = process.argv.slice(2);
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
// Whatever becomes of its last requests, they are nobody's concern.
await loads[name]?.({ url, key, ask: askWith(url, key), stop: stop.signal }).catch(() => undefined);
process.exit();
