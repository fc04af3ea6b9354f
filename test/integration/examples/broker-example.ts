import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PageTerminal } from '../../docs/terminal-page.ts';
import { type Broker, images } from '../connectors/brokers/containers.ts';

const run = promisify(execFile);

export interface BrokerExampleOptions {
  /** Of `examples/brokers`. */
  readonly folder: string;
  readonly broker: Broker;
  /** In the compose file. @default the name of the broker */
  readonly service?: string;
  /** As the page and the programs have it. */
  readonly port: number;
}

/**
 * Plays the page of an example with its own compose file and programs, as somebody does who has just found it. The broker has any free port
 * instead of the one that the page says, and the image that tests use.
 */
export async function playBrokerExample({ folder, broker, service = broker, port }: BrokerExampleOptions): Promise<number> {
  const path = `examples/brokers/${folder}`;
  const name = broker.toUpperCase();
  const project = `cep-test-${folder}-${process.pid}`;
  const env = { COMPOSE_PROJECT_NAME: project, [`CEP_IMAGE_${name}`]: images[broker], [`CEP_${name}_PORT`]: '0' };
  const terminal = new PageTerminal({ copyOf: path, env, begin: dockerIn({ service, port }), isInNetwork: true });
  try {
    return await terminal.play(`${path}/README.md`);
  } finally {
    await run('docker-compose', ['down', '-v', '-t', '0'], { cwd: terminal.folder, env: { ...process.env, ...env } });
    await terminal.close();
  }
}

/**
 * `docker compose` of the page. When the broker is up the programs are told its port, and so is Kafka, whose image for tests has another port
 * for who is inside. The commands come through a pipe, of which nothing may read that is run by them.
 */
const dockerIn = ({ service, port }: { readonly service: string; readonly port: number }): string => `
exec 9<&0
compose() {
  if [ /dev/stdin -ef /dev/fd/9 ]; then docker-compose "$@" < /dev/null; else docker-compose "$@"; fi
}
docker() {
  shift
  compose "\${@//localhost:9092/localhost:19092}" || return
  if [ "$1" = up ]; then
    local address
    address=$(compose port ${service} ${port}) || return
    sed -i "s/127.0.0.1:${port}/$address/; s/port: ${port}/port: \${address##*:}/" ./*.vpl
    compose exec -T ${service} sh -c "echo $address > /tmp/external"
  fi
}`;
