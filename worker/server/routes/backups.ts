import Type from 'typebox';
import { CepError } from '../../../shared/errors/error.ts';
import type { Runtime } from '../../runtime/service.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

const backupSchema = Type.Object(
  { path: Type.String({ description: 'The directory that holds the copy; it can be a state directory itself.' }) },
  { additionalProperties: false },
);

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
      isAudited: true,
      handle: async () => {
        const path = await runtime.backUp();
        if (path === null)
          throw new CepError('not_durable', 'the server has no state directory to copy', { hint: 'start it with --state-dir' });
        return { path };
      },
    }),
  ];
}
