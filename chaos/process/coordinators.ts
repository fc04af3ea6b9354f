import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePortPairs } from './free-ports.ts';
import { type Answer, askMember, type GroupAccess, type Request } from './group-access.ts';

const bin = fileURLToPath(new URL('../../cli/bin.mjs', import.meta.url));
const key = 'the-key-of-the-coordinators';
const leaderWaitMs = 60_000;
/** Of the output of a process: the end of it is kept, for the message when it ends unasked. */
const outputChars = 4_096;

/** Three processes `cep coordinator --raft` on loopback, each with a directory and ports of its own. */
export class Coordinators implements GroupAccess {
  readonly ids = [1, 2, 3] as const;
  readonly #folder: string;
  readonly #urls: readonly string[];
  readonly #running = new Map<number, ChildProcess>();

  private constructor(folder: string, urls: readonly string[]) {
    this.#folder = folder;
    this.#urls = urls;
  }

  /** @param folder Exists; the directories of the members are made in it. */
  static async start(folder: string): Promise<Coordinators> {
    const ports = await freePortPairs(3);
    const group = new Coordinators(
      folder,
      ports.map((port) => `http://127.0.0.1:${port}`),
    );
    for (const id of group.ids) group.start(id);
    await group.leader();
    return group;
  }

  start(id: number): void {
    const url = this.#urls[id - 1] as string;
    const raft = ['--raft', '--raft-node-id', String(id), '--raft-peers', this.#urls.join(',')];
    const args = [bin, 'coordinator', '--port', new URL(url).port, ...raft, '--raft-data-dir', join(this.#folder, String(id))];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, CEP_API_KEY: key } });
    this.#running.set(id, child);
    let output = '';
    child.stderr.on('data', (piece: Buffer) => {
      output = `${output}${piece.toString()}`.slice(-outputChars);
    });
    child.once('close', (code) => {
      if (this.#running.get(id) === child) throw new Error(`coordinator ${id} ended by itself with code ${code}:\n${output}`);
    });
  }

  async kill(id: number): Promise<void> {
    const child = this.#running.get(id);
    if (child === undefined) return;
    this.#running.delete(id);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.kill(id)));
  }

  ask(id: number, request: Request): Promise<Answer> {
    return askMember(this.#urls[id - 1] as string, key, request);
  }

  /** Whom all that run take for the leader. Rejects when they do not agree within a minute. */
  async leader(): Promise<number> {
    const until = performance.now() + leaderWaitMs;
    for (;;) {
      const asked = [...this.#running.keys()].map((id) => this.ask(id, { method: 'GET', path: '/raft/status' }));
      const [first, ...others] = (await Promise.allSettled(asked)).map((told) =>
        told.status === 'fulfilled' ? (told.value.body.leader_id as number | null) : null,
      );
      if (typeof first === 'number' && others.every((other) => other === first)) return first;
      if (performance.now() > until) throw new Error(`the coordinators name no common leader for ${leaderWaitMs / 1_000} s`);
      await sleep(50);
    }
  }
}
