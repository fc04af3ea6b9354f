import { expect, it, vi } from 'vitest';
import type { GroupMember } from '../../../coordinator/cluster/group-member.ts';
import type { WorkerProcess } from '../../../coordinator/liveness/process-map.ts';
import type { Controller } from '../../../coordinator/reconcile/controller.ts';
import type { WorkerClient } from '../../../coordinator/workers-client/worker-client.ts';
import { WorkerWatches } from '../../../coordinator/workers-client/worker-watches.ts';

/** What a call finds: who answers there, at which IP address; or the IP address that refuses it. */
type Found = { readonly who: string; readonly ip: string } | { readonly refusedBy: string };

const refusal = (address: string): Error => Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address });

/** Worker `w`, process `i1`, which answers the first call; `then` is what the later ones find. */
class World {
  isLeading = true;
  isOver = false;
  calls = 0;
  /** How often it was asked whether the member leads while it did not. */
  refusals = 0;
  readonly died: string[] = [];
  readonly watches: WorkerWatches;
  #look: () => void = () => undefined;
  #next: (line: string | undefined) => void = () => undefined;
  #peer: string | undefined;

  constructor(address: string, then: Found) {
    const worker = { id: 'w', incarnation: 'i1', address, status: 'ready' };
    const world = this;
    const controller = {
      get isLeading() {
        if (!world.isLeading) world.refusals++;
        return world.isLeading;
      },
      leases: { isOver: () => this.isOver, died: ({ incarnation }: WorkerProcess) => this.died.push(incarnation) },
      onLook: (listener: () => void) => {
        this.#look = listener;
      },
      changed: () => undefined,
    };
    const client: Pick<WorkerClient, 'watch' | 'peerOf'> = {
      peerOf: () => this.#peer,
      watch: async () => {
        const found = this.calls++ === 0 ? { who: 'i1', ip: '10.0.0.1' } : then;
        if ('refusedBy' in found) throw refusal(found.refusedBy);
        this.#peer = found.ip;
        return this.#lines(found.who);
      },
    };
    this.watches = new WorkerWatches({
      group: { state: { workers: new Map([['w', worker]]) } } as unknown as GroupMember,
      client: client as WorkerClient,
      controller: controller as unknown as Controller,
    });
  }

  look(): void {
    this.#look();
  }

  /** The connection to the process breaks. */
  break(): void {
    this.#next(undefined);
  }

  /** Something else has connected to the name, which leads to another address by now, and the process says that it is there. */
  beatAfterConnectionTo(ip: string): void {
    this.#peer = ip;
    this.#next(JSON.stringify({ incarnation: 'i1' }));
  }

  async *#lines(incarnation: string): AsyncGenerator<Buffer> {
    for (let line: string | undefined = JSON.stringify({ incarnation }); line !== undefined; ) {
      yield Buffer.from(`${line}\n`);
      line = await new Promise((resolve) => {
        this.#next = resolve;
      });
    }
  }
}

async function watched(address: string, then: Found): Promise<World> {
  const world = new World(address, then);
  world.look();
  await vi.waitFor(() => expect(world.calls).toBe(1));
  // Whoever is called has read the first line a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  return world;
}

it.each([
  ['its IP address refuses others', 'http://10.0.0.1:9', { refusedBy: '10.0.0.1' }],
  ['its name leads to where it was, and others are refused', 'http://w:9', { refusedBy: '10.0.0.1' }],
  ['another process answers at its IP address', 'http://10.0.0.1:9', { who: 'i2', ip: '10.0.0.1' }],
  ['its name leads to where it was, and another process answers', 'http://w:9', { who: 'i2', ip: '10.0.0.1' }],
] as const)('a process is dead when its connection breaks and %s', async (_what, address, then) => {
  const world = await watched(address, then);
  world.break();
  await vi.waitFor(() => expect(world.died).toEqual(['i1']));
  world.watches.close();
});

it.each([
  ['refuses others', { refusedBy: '10.0.0.2' }],
  ['answers as another process', { who: 'i2', ip: '10.0.0.2' }],
] as const)('nothing is known of it when its name leads to another machine by now, which %s', async (_what, then) => {
  const world = await watched('http://w:9', then);
  world.break();
  await vi.waitFor(() => expect(world.calls).toBeGreaterThan(4));
  expect(world.died).toEqual([]);
  world.watches.close();
});

it('a process is where it was called, wherever connections are made to its name since', async () => {
  const world = await watched('http://w:9', { refusedBy: '10.0.0.2' });
  world.beatAfterConnectionTo('10.0.0.2');
  await new Promise((resolve) => setImmediate(resolve));
  world.break();
  await vi.waitFor(() => expect(world.calls).toBeGreaterThan(4));
  expect(world.died).toEqual([]);
  world.watches.close();
});

it('a process is watched anew by a member that leads again, when its connection broke meanwhile', async () => {
  const world = await watched('http://10.0.0.1:9', { who: 'i1', ip: '10.0.0.1' });
  world.isLeading = false;
  world.break();
  await vi.waitFor(() => expect(world.refusals).toBe(1));
  world.isLeading = true;
  await vi.waitFor(() => {
    world.look();
    expect(world.calls).toBe(2);
  });
  world.watches.close();
});

it('a process whose lease is over is not called', () => {
  const world = new World('http://10.0.0.1:9', { refusedBy: '10.0.0.1' });
  world.isOver = true;
  world.look();
  expect(world.calls).toBe(0);
});
