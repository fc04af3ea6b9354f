import Type from 'typebox';
import { manifestSchema } from './placements.ts';

const strict = { additionalProperties: false } as const;
const { sequence, epoch, bytes, checksum, locations, received } = manifestSchema.properties;

/** A checkpoint whose bytes are safe, and which does not count yet. */
export const checkpointStoredSchema = Type.Object({ placement_id: Type.String(), epoch, sequence, bytes, checksum, locations }, strict);

/** With this it counts: the state of its pipeline is what it says. */
export const checkpointCommitSchema = Type.Object(
  {
    ...{ bytes, checksum, locations, received },
    is_former: Type.Optional(
      Type.Boolean({ description: 'It is of the `former_source` of its placement, not of its `source`. Only to who has said that one.' }),
    ),
  },
  strict,
);
