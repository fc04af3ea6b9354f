import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Links, Network, Place } from './network.ts';

const run = promisify(execFile);
const apiPort = 9_000;

/** Whether this process may make network namespaces: it is root, on Linux, with `ip` and `iptables`. */
export async function hasNamespaces(): Promise<boolean> {
  const name = `cepchk${process.pid}`;
  try {
    await run('ip', ['netns', 'add', name]);
    await run('ip', ['netns', 'exec', name, 'iptables', '-L', '-n']);
    return true;
  } catch {
    return false; // Whatever is missing, such a run does without.
  } finally {
    await run('ip', ['netns', 'del', name]).catch(() => undefined);
  }
}

/** Places in network namespaces on one bridge, each with an address of its own; number 0 is the bridge, where the test is. */
export async function namespaces(count: number): Promise<Network> {
  const id = process.pid.toString(36);
  const subnet = `10.${100 + (process.pid % 100)}.${Math.floor(process.pid / 100) % 250}`;
  const bridge = `cepb${id}`;
  const names = Array.from({ length: count }, (_, at) => `cepn${id}-${at + 1}`);
  const links = new NamespaceLinks({ subnet, names, bridge, id });
  const close = async (): Promise<void> => {
    await links.settle();
    for (const name of names) await run('ip', ['netns', 'del', name]).catch(() => undefined); // It may not have been made.
    await run('iptables', ['-D', 'FORWARD', ...through(bridge)]).catch(() => undefined);
    await run('ip', ['link', 'del', bridge]).catch(() => undefined);
  };
  try {
    await run('ip', ['link', 'add', bridge, 'type', 'bridge']);
    await run('ip', ['addr', 'add', `${subnet}.254/24`, 'dev', bridge]);
    await run('ip', ['link', 'set', bridge, 'up']);
    // Where Docker runs, what crosses a bridge is judged by a chain that drops.
    await run('iptables', ['-I', 'FORWARD', ...through(bridge)]);
    for (const [at, name] of names.entries())
      await addNamespace({ name, bridge, address: `${subnet}.${at + 1}`, veth: vethOf(id, at + 1) });
  } catch (error) {
    await close();
    throw error;
  }
  const places = names.map((name, at): Place => ({ host: `${subnet}.${at + 1}`, port: apiPort, before: ['ip', 'netns', 'exec', name] }));
  return { outside: `${subnet}.254`, places, links, close };
}

function through(bridge: string): string[] {
  return ['-i', bridge, '-o', bridge, '-j', 'ACCEPT'];
}

async function addNamespace({ name, bridge, address, veth }: Record<'name' | 'bridge' | 'address' | 'veth', string>): Promise<void> {
  await run('ip', ['netns', 'add', name]);
  await run('ip', ['link', 'add', veth, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
  await run('ip', ['link', 'set', veth, 'master', bridge, 'up']);
  await run('ip', ['-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0']);
  await run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
  await run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
}

function vethOf(id: string, at: number): string {
  return `cepv${id}-${at}`;
}

interface Wiring {
  readonly subnet: string;
  readonly names: readonly string[];
  readonly bridge: string;
  readonly id: string;
}

class NamespaceLinks implements Links {
  readonly #subnet: string;
  readonly #names: readonly string[];
  readonly #wiring: Wiring;
  /** By place, what its frames go through. */
  readonly #unsettled = new Map<number, ChildProcess>();

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
    this.#subnet = wiring.subnet;
    this.#names = wiring.names;
  }

  async cut(from: number, to: number): Promise<void> {
    // Nothing can be cut in the namespace of the test: there, what is sent to it is dropped where it is sent.
    if (to === 0) await this.#drop(from, 'OUTPUT', ['-d', `${this.#subnet}.254`]);
    else await this.#drop(to, 'INPUT', ['-s', `${this.#subnet}.${from === 0 ? 254 : from}`]);
  }

  async lose(at: number, share: number): Promise<void> {
    for (const chain of ['INPUT', 'OUTPUT'] as const) {
      await this.#drop(at, chain, ['-m', 'statistic', '--mode', 'random', '--probability', share.toFixed(3)]);
    }
  }

  /** Between the place and the bridge, where its frames went straight on. */
  async unsettle(at: number, program: string): Promise<void> {
    if (this.#unsettled.has(at)) return;
    const { bridge, id } = this.#wiring;
    const [veth, inner, outer] = [vethOf(id, at), `cepi${id}-${at}`, `cepo${id}-${at}`];
    await run('ip', ['link', 'add', outer, 'type', 'veth', 'peer', 'name', inner]);
    // Nothing but the program is to answer there.
    await run('ip', ['link', 'set', inner, 'arp', 'off', 'up']);
    await run('ip', ['link', 'set', veth, 'nomaster', 'arp', 'off']);
    await run('ip', ['link', 'set', outer, 'master', bridge, 'up']);
    const passing = spawn(program, [veth, inner], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#unsettled.set(at, passing);
    await once(passing.stdout, 'data');
  }

  /** Frames go straight on again. */
  async settle(): Promise<void> {
    const { bridge, id } = this.#wiring;
    for (const [at, passing] of this.#unsettled) {
      passing.kill('SIGKILL');
      await run('ip', ['link', 'del', `cepo${id}-${at}`]);
      await run('ip', ['link', 'set', vethOf(id, at), 'master', bridge, 'arp', 'on']);
      this.#unsettled.delete(at);
    }
  }

  async heal(): Promise<void> {
    await this.settle();
    await Promise.all(this.#names.map((name) => run('ip', ['netns', 'exec', name, 'iptables', '-F'])));
  }

  async #drop(at: number, chain: 'INPUT' | 'OUTPUT', which: readonly string[]): Promise<void> {
    const name = this.#names[at - 1] as string;
    await run('ip', ['netns', 'exec', name, 'iptables', '-w', '-A', chain, ...which, '-j', 'DROP']);
  }
}
