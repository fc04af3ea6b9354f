import Type from 'typebox';

const strict = { additionalProperties: false } as const;

/** By name, as `cep config show --json` gives them; secrets are not in it. */
export const settingsSchema = Type.Object(
  {
    settings: Type.Record(
      Type.String(),
      Type.Object(
        {
          value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], { description: 'Null: it is not set.' }),
          origin: Type.String({ enum: ['flag', 'environment', 'file', 'default'] }),
          where: Type.Optional(Type.String({ description: 'The flag, the variable, or the place in a file.' })),
        },
        strict,
      ),
    ),
  },
  strict,
);
