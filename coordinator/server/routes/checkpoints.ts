import Type from 'typebox';
import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import type { QueryParameter } from '../../../shared/http/query.ts';
import { limits } from '../../../shared/limits.ts';
import { checkpointCommitSchema, checkpointStoredSchema } from '../../../shared/protocol/cluster-checkpoints.ts';
import { manifestSchema } from '../../../shared/protocol/placements.ts';
import type { CheckpointName } from '../../checkpoints/checkpoint-store.ts';
import { type Checkpoints, memberHeader, newestIn } from '../../checkpoints/checkpoints.ts';
import { manifestWire } from '../../reconcile/desired-placement.ts';
import { type ClusterRequests, consistencyParameter } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'checkpoints';
const placementPath = `${clusterPath}/checkpoints/{placement_id}` as const;
const checkpointPath = `${placementPath}/{epoch}/{sequence}` as const;
const bytesType = 'application/octet-stream';

const checksumParameter: QueryParameter<number | undefined> = {
  schema: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  doc: 'CRC-32C of the bytes, so that what was changed on the way is refused.',
  read: (text) => (text === undefined ? undefined : wholeIn('checksum', text)),
};

/** Where workers put the state of what they run, for whoever runs it next. */
export function checkpointRoutes(requests: ClusterRequests, checkpoints: Checkpoints): readonly ClusterRoute[] {
  return [
    clusterRoute({
      method: 'PUT',
      path: checkpointPath,
      operation: 'putCheckpoint',
      summary: 'Keep the bytes of a checkpoint, here and with a majority of the members; it counts once it is committed',
      tag,
      access: 'key',
      isProbe: true,
      bytes: {
        contentTypes: [bytesType],
        bytesMax: limits.placementCheckpointBytesMax,
        schema: Type.Unknown({ description: 'Of its worker.' }),
      },
      query: { checksum: checksumParameter },
      success: { 201: checkpointStoredSchema },
      errors: ['validation_error', 'checkpoint_corrupt', 'storage_unavailable'],
      handle: async ({ params, body, query, headers }) => {
        const name = nameIn(params);
        const checksum = crc32c(body);
        if (query.checksum !== undefined && query.checksum !== checksum) {
          throw new CepError('checkpoint_corrupt', `the bytes have the checksum ${checksum}, expected ${query.checksum}`, {
            hint: 'send them again',
          });
        }
        const isCopy = headers[memberHeader] !== undefined;
        const locations = await (isCopy ? checkpoints.keepHere(name, body) : checkpoints.keep(name, body));
        const { placementId, epoch, sequence } = name;
        return new Answer(201, { placement_id: placementId, epoch, sequence, bytes: body.length, checksum, locations });
      },
    }),
    clusterRoute({
      method: 'POST',
      path: `${checkpointPath}/commit`,
      operation: 'commitCheckpoint',
      summary: 'Have a checkpoint count: the one that follows the last, under the epoch of its placement',
      tag,
      access: 'key',
      isProbe: true,
      body: checkpointCommitSchema,
      success: { 200: manifestSchema },
      errors: ['pipeline_not_found', 'stale_epoch', 'transition_refused', 'session_expired', 'idempotency_conflict', ...leaderErrors],
      idempotency: 'handler',
      handle: (call) => {
        const { placementId, epoch, sequence } = nameIn(call.params);
        const { bytes, checksum, locations, received, is_former: isFormer = false } = call.body;
        const payload = { placementId, epoch, sequence, bytes, checksum, locations, received, ...(isFormer && { isFormer }) };
        const answer = (): Answer => new Answer(200, { sequence, epoch, bytes, checksum, locations, received });
        return requests.change(call, { type: 'CommitCheckpoint', payload }, answer, { isOfWorker: true });
      },
    }),
    clusterRoute({
      method: 'GET',
      path: placementPath,
      operation: 'getCheckpoint',
      summary: 'Show the newest checkpoint of a placement that counts',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: manifestSchema },
      errors: ['checkpoint_not_found', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.read(call, call.query.consistency, (state) => new Answer(200, manifestWire(newestIn(state, call.params.placement_id)))),
    }),
    clusterRoute({
      method: 'GET',
      path: checkpointPath,
      operation: 'getCheckpointBytes',
      summary: 'Give the bytes of a checkpoint, whoever of the members has them',
      tag,
      access: 'key',
      isProbe: true,
      success: { 200: 'The bytes as they were put.' },
      textType: bytesType,
      errors: ['validation_error', 'checkpoint_not_found', 'storage_unavailable'],
      handle: async ({ params, headers }) => {
        const bytes = await checkpoints.read(nameIn(params), headers[memberHeader] !== undefined);
        return new Answer(200, Buffer.from(bytes), { 'content-type': bytesType });
      },
    }),
  ];
}

function nameIn(params: { readonly placement_id: string; readonly epoch: string; readonly sequence: string }): CheckpointName {
  const { placement_id: placementId } = params;
  return { placementId, epoch: wholeIn('epoch', params.epoch), sequence: wholeIn('sequence', params.sequence) };
}

function wholeIn(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CepError('validation_error', `${name}: found '${text}', expected a whole number`);
}
