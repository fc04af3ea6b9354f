import Type from 'typebox';

const strict = { additionalProperties: false } as const;

/** A problem of a program. Lines and columns are 1-based and count code points; the end is exclusive. */
export const diagnosticSchema = Type.Object(
  {
    severity: Type.String({ enum: ['error', 'warning'] }),
    code: Type.String(),
    line: Type.Integer({ minimum: 1 }),
    column: Type.Integer({ minimum: 1 }),
    end_line: Type.Integer({ minimum: 1 }),
    end_column: Type.Integer({ minimum: 1 }),
    message: Type.String(),
    hint: Type.Optional(Type.String()),
    file: Type.Optional(Type.String()),
  },
  strict,
);

export const validationSchema = Type.Object({ valid: Type.Boolean(), diagnostics: Type.Array(diagnosticSchema) }, strict);

export const topologySchema = Type.Object(
  {
    nodes: Type.Array(
      Type.Object(
        { id: Type.String(), label: Type.String(), node_type: Type.String(), config: Type.Record(Type.String(), Type.Unknown()) },
        strict,
      ),
    ),
    edges: Type.Array(Type.Object({ id: Type.String(), source: Type.String(), target: Type.String() }, strict)),
  },
  strict,
);
