import { CepError } from '../../../shared/errors/error.ts';
import { backupSchema } from '../../../shared/protocol/backups.ts';
import type { Runtime } from '../../runtime/service.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

/** Copies of the whole state directory, made while everything runs. */
export function backupRoutes(runtime: Runtime): readonly ApiRoute[] {
  return [
    apiRoute({
      method: 'POST',
      path: '/api/v1/backups',
      operation: 'backUp',
      summary: 'Copy the state directory while everything runs',
      tag: 'state',
      access: 'admin',
      success: { 201: backupSchema },
      errors: ['not_durable', 'storage_unavailable'],
      idempotency: 'answer',
      isAudited: true,
      handle: async () => {
        const made = await runtime.backUp();
        if (made === null)
          throw new CepError('not_durable', 'the server has no state directory to copy', { hint: 'start it with --state-dir' });
        const { path, bytes, removed } = made;
        return { path, size_bytes: bytes, removed: [...removed] };
      },
    }),
  ];
}
