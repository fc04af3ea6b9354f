import Type from 'typebox';
import { batchInjectedSchema, eventSchema, injectedSchema } from './events.ts';

const strict = { additionalProperties: false } as const;
const names = Type.Array(Type.String(), { description: 'Pipelines that the events went to.' });
const workerId = Type.Union([Type.String(), Type.Null()]);

/** An event for a group. */
export const groupEventSchema = Type.Object(
  { ...eventSchema.properties, pipeline: Type.Optional(Type.String({ description: 'The one that is meant; routes are not asked then.' })) },
  { description: 'Members other than these are passed over.' },
);

export const groupInjectedSchema = Type.Object({ routed_to: names, worker_id: workerId, ...injectedSchema.properties }, strict);

/** Many events for a group, as a list or as the lines of an `.evt` file. */
export const groupBatchSchema = Type.Object(
  {
    events: Type.Optional(Type.Array(eventSchema)),
    events_text: Type.Optional(
      Type.String({
        description:
          'Lines of an `.evt` file, read by what the pipeline declares; offsets count from the time of the request, where an event says no time.',
      }),
    ),
    pipeline: Type.Optional(Type.String({ description: 'The one that is meant; routes are not asked then.' })),
  },
  strict,
);

export const groupBatchInjectedSchema = Type.Object({ routed_to: names, ...batchInjectedSchema.properties }, strict);
