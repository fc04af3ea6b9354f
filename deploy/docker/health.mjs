/** Ends with 0 when what this container runs, a server or a coordinator, says that it lives. */
import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

const isCoordinator = readFileSync('/proc/1/cmdline', 'utf8').split('\0').includes('coordinator');
const { CEP_SERVER_PORT = '9000', CEP_COORDINATOR_PORT = '9100', CEP_TLS_CERT } = process.env;
const options = {
  host: '127.0.0.1',
  port: isCoordinator ? CEP_COORDINATOR_PORT : CEP_SERVER_PORT,
  path: '/health',
  timeout: 4000,
  // The certificate is made out to the name that others use.
  rejectUnauthorized: false,
};

const request = (CEP_TLS_CERT ? requestTls : requestPlain)(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
request.end();
