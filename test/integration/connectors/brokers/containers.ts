import { createServer } from 'node:net';
import type { StartedTestContainer } from 'testcontainers';

process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';

const ENGINE_MS_MAX = 3_000;
const START_MS_MAX = 120_000;
/** On each container, so that those which a run has left behind can be swept. */
const label = 'cep.test.run';

/** Images by broker: a setting, else the one that `deploy/images/build.sh` makes. */
export const images = {
  mosquitto: process.env['CEP_IMAGE_MOSQUITTO'] ?? 'cep-test/mosquitto:local',
  redis: process.env['CEP_IMAGE_REDIS'] ?? 'cep-test/redis:local',
  nats: process.env['CEP_IMAGE_NATS'] ?? 'cep-test/nats:local',
  postgresql: process.env['CEP_IMAGE_POSTGRESQL'] ?? 'cep-test/postgresql:local',
  mariadb: process.env['CEP_IMAGE_MARIADB'] ?? 'cep-test/mariadb:local',
  kafka: process.env['CEP_IMAGE_KAFKA'] ?? 'cep-test/kafka:local',
} as const;

export type Broker = keyof typeof images;

/**
 * Whether tests with this broker can run. Where they cannot, the reason is written; where `CEP_REQUIRE_CONTAINERS` is set, as it is in CI, it
 * is thrown.
 */
export async function hasBroker(broker: Broker): Promise<boolean> {
  // Loading it takes a while, which is not the engine's.
  await import('testcontainers');
  const reason = await Promise.race([whyNot(images[broker]), engineSilent()]);
  if (reason === undefined) return true;
  if (process.env['CEP_REQUIRE_CONTAINERS'] !== undefined) throw new Error(`tests with ${broker} cannot run: ${reason}`);
  process.stderr.write(`\nSKIPPED: tests with ${broker}: ${reason}\n`);
  return false;
}

async function whyNot(image: string): Promise<string | undefined> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    const { container } = await getContainerRuntimeClient();
    await container.dockerode.getImage(image).inspect();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return /no such image/i.test(message) ? `there is no image ${image}: deploy/images/build.sh makes it` : `no Docker engine: ${message}`;
  }
}

function engineSilent(): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve('the Docker engine does not answer'), ENGINE_MS_MAX).unref());
}

export interface BrokerOptions {
  readonly broker: Broker;
  /** The port that it listens on inside. */
  readonly port: number;
  /** @default what the image says */
  readonly command?: readonly string[];
  /** Variables by name. `outside`: the port of this machine. */
  readonly environment?: (outside: number) => Readonly<Record<string, string>>;
  /** Texts by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A broker in a container, at one port of this machine for all its life, however often it is killed. */
export class RunningBroker {
  readonly port: number;
  readonly #container: StartedTestContainer;

  private constructor(container: StartedTestContainer, port: number) {
    this.#container = container;
    this.port = port;
  }

  /** Another process may take the free port before the container has it: then with another one. */
  static async start(options: BrokerOptions, tries = 3): Promise<RunningBroker> {
    const port = await freePort();
    try {
      return new RunningBroker(await startContainer(options, port), port);
    } catch (error) {
      if (tries === 1 || !/already (allocated|in use)/.test(String(error))) throw error;
      return await RunningBroker.start(options, tries - 1);
    }
  }

  async #engine() {
    const { getContainerRuntimeClient } = await import('testcontainers');
    return (await getContainerRuntimeClient()).container.dockerode.getContainer(this.#container.getId());
  }

  /** `SIGKILL`: what it had on disk stays. `SIGTERM`: it may write down what it has. Resolves when it is gone. */
  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const container = await this.#engine();
    const gone = container.wait();
    await container.kill({ signal });
    await gone;
  }

  /** Tells its first process something that does not end it. */
  async signal(signal: 'SIGHUP'): Promise<void> {
    await (await this.#engine()).kill({ signal });
  }

  async write(path: string, content: string): Promise<void> {
    await this.#container.copyContentToContainer([{ target: path, content }]);
  }

  /** Runs a command beside the broker. @throws Error with what it wrote, when it fails */
  async run(command: readonly string[]): Promise<void> {
    const { exitCode, output } = await this.#container.exec([...command]);
    if (exitCode !== 0) throw new Error(`${command[0]}: ${output}`);
  }

  async startAgain(): Promise<void> {
    await (await this.#engine()).start();
  }

  async pause(): Promise<void> {
    await (await this.#engine()).pause();
  }

  async resume(): Promise<void> {
    await (await this.#engine()).unpause();
  }

  async stop(): Promise<void> {
    await this.#container.stop({ timeout: 0 });
  }
}

async function startContainer(options: BrokerOptions, port: number): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const { broker, port: inside, command, environment, files = {} } = options;
  const image = new GenericContainer(images[broker]);
  if (command !== undefined) image.withCommand([...command]);
  return await image
    .withLabels({ [label]: String(process.pid) })
    .withCopyContentToContainer(Object.entries(files).map(([target, content]) => ({ target, content })))
    .withEnvironment({ ...environment?.(port) })
    .withExposedPorts({ container: inside, host: port })
    .withWaitStrategy(Wait.forListeningPorts())
    .withStartupTimeout(START_MS_MAX)
    .start();
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
