import { connect, createServer, type Socket } from 'node:net';
import { Level } from 'level';
import { FrameReader, frameOf } from '../../../coordinator/raft/transport/frames.ts';
import { closedLoop, serve } from './load.ts';

/**
 * The least that replication can be: batches over TCP, a LevelDB with sync on each of three processes, an acknowledgement, and a commit
 * when two have it. No terms, no checks, nothing that survives a failure. `minimal-replication.ts FOLDER PORT [PORT PORT]`: a follower,
 * or with the ports of two of them the leader.
 */
const [folder = '', port = '0', ...followers] = process.argv.slice(2);
const database = new Level<string, Uint8Array>(folder, { keyEncoding: 'utf8', valueEncoding: 'view', compression: false });
await database.open();

async function append(first: number, values: readonly Uint8Array[]): Promise<void> {
  const batch = database.batch();
  values.forEach((value, at) => {
    batch.put(String(first + at).padStart(14, '0'), value);
  });
  await batch.write({ sync: true });
}

function follow(): void {
  const server = createServer((socket) => {
    const reader = new FrameReader();
    socket.setNoDelay(true);
    let writing = Promise.resolve();
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      for (const packet of reader.push(piece)) {
        const view = new DataView(packet.buffer, packet.byteOffset);
        const [first, count, bytes] = [view.getFloat64(0), view.getUint32(8), view.getUint32(12)];
        const values = Array.from({ length: count }, (_, at) => packet.subarray(16 + at * bytes, 16 + (at + 1) * bytes));
        writing = writing
          .then(() => append(first, values))
          .then(() => {
            const answer = new Uint8Array(8);
            new DataView(answer.buffer).setFloat64(0, first + count);
            socket.write(frameOf(answer));
          });
      }
    });
  });
  server.listen(Number(port), '127.0.0.1', () => serve({}));
}

interface Waiting {
  readonly value: Uint8Array;
  readonly resolve: () => void;
}

/** Batches form while the one before is written. */
class Leader {
  readonly #sockets: Socket[];
  readonly #has = [0, 0, 0];
  #waiting: Waiting[] = [];
  #sent: { readonly end: number; readonly batch: readonly Waiting[] }[] = [];
  #next = 0;
  #isWriting = false;

  constructor(ports: readonly string[]) {
    this.#sockets = ports.map((to, at) => {
      const socket = connect(Number(to), '127.0.0.1');
      const reader = new FrameReader();
      socket.setNoDelay(true);
      socket.on('data', (piece: Buffer) => {
        for (const packet of reader.push(piece)) this.#acknowledged(at + 1, new DataView(packet.buffer, packet.byteOffset).getFloat64(0));
      });
      return socket;
    });
  }

  propose(value: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ value, resolve });
      if (!this.#isWriting && this.#waiting.length === 1) setImmediate(() => void this.#write());
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const first = this.#next;
      this.#next += batch.length;
      this.#sent.push({ end: this.#next, batch });
      const bytes = batch[0]?.value.length ?? 0;
      const packet = new Uint8Array(16 + batch.length * bytes);
      const view = new DataView(packet.buffer);
      view.setFloat64(0, first);
      view.setUint32(8, batch.length);
      view.setUint32(12, bytes);
      batch.forEach(({ value }, at) => {
        packet.set(value, 16 + at * bytes);
      });
      for (const socket of this.#sockets) socket.write(frameOf(packet));
      await append(
        first,
        batch.map(({ value }) => value),
      );
      this.#acknowledged(0, this.#next);
    }
    this.#isWriting = false;
  }

  #acknowledged(who: number, end: number): void {
    this.#has[who] = end;
    const [, committed = 0] = [...this.#has].sort((a, b) => b - a);
    while ((this.#sent[0]?.end ?? Number.POSITIVE_INFINITY) <= committed)
      for (const { resolve } of this.#sent.shift()?.batch ?? []) resolve();
  }
}

if (followers.length === 0) {
  follow();
} else {
  const leader = new Leader(followers);
  serve({ load: ({ clients, seconds, bytes }) => closedLoop({ clients, seconds }, () => leader.propose(new Uint8Array(bytes))) });
}
