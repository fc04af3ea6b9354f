import { CepError } from '../../shared/errors/error.ts';
import { receivedError } from '../../shared/threads/sent-error.ts';
import { spawnThread } from '../../shared/threads/spawn.ts';
import type { RaftMemberOptions, StartRaftMember } from './group.ts';
import { ThreadedMember, tickMsOf } from './thread/member.ts';
import type { FromRaftThread, ThreadSetup } from './thread/messages.ts';

const keyBytesMin = 16;

/** See `StartRaftMember`. */
export const startRaftMember: StartRaftMember = async (options) => {
  requireSense(options);
  const { dataDir, clusterId, nodeId, peers, listen, key, tls, formatMax = 1, snapshotEntries, state } = options;
  const setup: ThreadSetup = {
    ...{ dataDir, clusterId, nodeId, peers, listen, key, formatMax, tickMs: tickMsOf(options) },
    ...(tls && { tls }),
    ...(snapshotEntries !== undefined && { snapshotEntries }),
  };
  const worker = spawnThread('coordinator/raft/thread/raft-thread.ts', { name: 'raft', data: { setup } });
  let applied = 0;
  return new Promise((resolve, reject) => {
    const end = (error: Error): void => {
      void worker.terminate();
      reject(error);
    };
    const take = (message: FromRaftThread) => {
      if (message.kind === 'failed') return end(receivedError(message.error));
      if (message.kind === 'event') return options.telemetry.report(message.name, message.fields as never);
      if (message.kind === 'restore') {
        applied = message.index;
        try {
          state.restore(message.state);
          state.passed?.(applied);
        } catch (error) {
          end(error instanceof Error ? error : new Error(String(error)));
        }
        return;
      }
      if (message.kind !== 'started') return;
      worker.off('message', take).off('error', end).off('exit', ended);
      resolve(new ThreadedMember(options, worker, { ...message, applied }));
    };
    const ended = (): void => end(new Error('the Raft thread has ended'));
    worker.on('message', take).on('error', end).on('exit', ended);
  });
};

function requireSense({ nodeId, key, peers }: RaftMemberOptions): void {
  const refuse = (message: string, hint: string): never => {
    throw new CepError('config_error', message, { hint });
  };
  if (!Number.isSafeInteger(nodeId) || nodeId < 1) refuse(`the node id is ${nodeId}`, 'ids are whole numbers from 1 on');
  if (Buffer.byteLength(key) < keyBytesMin) {
    const found = `the key of the Raft group has ${Buffer.byteLength(key)} bytes, and needs ${keyBytesMin} at least`;
    refuse(found, 'make one with: openssl rand -hex 32');
  }
  const ids = peers.map(({ id }) => id);
  if (ids.length === 0) refuse('the Raft group has no members', 'name all of them, this one included, the same on each');
  const repeated = ids.find((id, at) => ids.indexOf(id) !== at);
  if (repeated !== undefined) refuse(`two members of the Raft group have the id ${repeated}`, 'give each an id of its own');
}
