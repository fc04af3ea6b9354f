import Type from 'typebox';

const strict = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
const names = Type.Array(Type.String());

/** What a checkpoint request answers; submitted unchanged to restore. */
export const checkpointSchema = Type.Object(
  { pipeline_id: Type.String(), checkpoint: Type.Record(Type.String(), Type.Unknown()), events_processed: count },
  strict,
);

/** What restore takes: the answer of a checkpoint request, or its `checkpoint` alone. */
export const restoreRequestSchema = Type.Record(Type.String(), Type.Unknown());

export const restoredSchema = Type.Object(
  { pipeline_id: Type.String(), restored: Type.Boolean(), events_restored: count, preserved: names, reset: names },
  strict,
);
