import Type from 'typebox';

/** A copy of the state directory. */
export const backupSchema = Type.Object(
  {
    path: Type.String({ description: 'The directory that holds the copy; it can be a state directory itself.' }),
    size_bytes: Type.Integer({ minimum: 0 }),
    removed: Type.Array(Type.String(), { description: 'Older copies that made room for it: as many stay as --keep-backups says.' }),
  },
  { additionalProperties: false },
);
