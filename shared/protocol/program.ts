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

/** A program and what it imports, as requests send it. */
export const programMembers = {
  source: Type.String({
    description: 'Text of a program.',
    examples: ['stream Hot = Reading.where(value > 30).emit(value: value)'],
  }),
  files: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description:
        'Texts of the files that it imports, by path relative to one folder, as `rules/a.vpl`. Imports are looked for among these ' +
        '(`import "rules/*.vpl"` too) before the folder of the tenant, if it has one. Those that nothing ' +
        'imports are not kept.',
    }),
  ),
  path: Type.Optional(
    Type.String({ minLength: 1, description: 'Where the program itself lies among the files; `program.vpl` if absent.' }),
  ),
};

export const validateRequestSchema = Type.Object(programMembers, strict);

export const validationSchema = Type.Object(
  { valid: Type.Boolean(), statements: Type.Integer({ minimum: 0 }), diagnostics: Type.Array(diagnosticSchema) },
  strict,
);

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
