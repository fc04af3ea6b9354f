/** Sends one request over and over until it is ended: `<url> <key>`, and the body from standard input. Says `ready` first, and each answer. */

import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const CONNECTIONS = 6;

const [url = '', key = ''] = process.argv.slice(2);
const body = await text(process.stdin);
const { origin, pathname: path } = new URL(url);
const pool = new Pool(origin, { connections: CONNECTIONS });
process.send?.('ready');
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    for (;;) {
      // What is refused comes again: nothing of that is to matter to anybody else.
      await pool
        .request({ method: 'POST', path, headers: { 'x-api-key': key, 'content-type': 'application/json' }, body })
        .then((answer) => answer.body.dump())
        .then(() => process.send?.('answered'))
        .catch(() => sleep(10));
    }
  }),
);
