import type { Static } from 'typebox';
import { settingsSchema } from '../../../shared/protocol/settings.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';

/** By name; nothing secret is in it. */
export type Settings = Static<typeof settingsSchema>['settings'];

/** What the server was started with: of interest to its operator alone. */
export function settingsRoute(settings: Settings): ApiRoute {
  return apiRoute({
    method: 'GET',
    path: '/api/v1/settings',
    operation: 'getSettings',
    summary: 'Show the settings in effect and where each comes from, without secrets',
    tag: 'overview',
    access: 'admin',
    success: { 200: settingsSchema },
    handle: () => ({ settings }),
  });
}
