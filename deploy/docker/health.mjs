/** Ends with 0 when what this container runs, a server or a coordinator, says that it lives. Argument: the id of its process, 1 otherwise. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';

const [pid = '1'] = process.argv.slice(2);
const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
const script = words.findIndex((word) => /(^|\/)(bin\.mjs|cep)$/.test(word));
const service = words.find((word, at) => at > script && (word === 'server' || word === 'coordinator'));
if (script >= 0 && service === undefined) process.exit(0); // A command that answers nobody.
const section = service === 'coordinator' ? 'coordinator' : 'server';

/** As the process has read its settings: from its flags, variables and files. */
function settings() {
  if (script < 0) return {};
  const own = words.slice(script + 1);
  own.splice(own.indexOf(service), 1);
  const flags = own.map((word) => word.replace(/^-p(?==|$)/, '--port'));
  const shown = [words[script], 'config', 'show', '--json', ...flags];
  try {
    return JSON.parse(execFileSync(process.execPath, shown, { encoding: 'utf8', timeout: 4000, stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return {}; // A file that has become wrong since.
  }
}

const shown = settings();
const { CEP_SERVER_PORT = '9000', CEP_COORDINATOR_PORT = '9100', CEP_TLS_CERT } = process.env;
const port = shown[`${section}.port`]?.value ?? (section === 'coordinator' ? CEP_COORDINATOR_PORT : CEP_SERVER_PORT);
const bind = shown[`${section}.bind`]?.value ?? '127.0.0.1';
const certificate = shown['server.tls_cert']?.value ?? CEP_TLS_CERT;
const options = {
  host: { '0.0.0.0': '127.0.0.1', '::': '::1' }[bind] ?? bind,
  port,
  path: '/health',
  timeout: 4000,
  // A name that is always taken.
  headers: { host: 'localhost' },
  // The certificate is made out to the name that others use.
  rejectUnauthorized: false,
};

const request = (certificate ? requestTls : requestPlain)(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy(new Error('no answer')));
request.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
request.end();
