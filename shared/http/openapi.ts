import Type, { type TSchema } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors/codes.ts';
import { limits } from '../limits.ts';
import type { Route } from './route.ts';

/** The body of an answer that is an error. */
export const errorSchema = Type.Object(
  {
    error: Type.String({ description: 'What was found, what was expected, what to do.' }),
    code: Type.String({ enum: Object.keys(errorCodes) }),
    hint: Type.Optional(Type.String()),
    details: Type.Optional(Type.Unknown()),
    request_id: Type.String(),
    retry_after_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI 3.1 document of routes. */
export function openApiDocument(about: { readonly title: string; readonly version: string }, routes: readonly Route<never>[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: about,
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: errorSchema },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
        queryKey: { type: 'apiKey', in: 'query', name: 'api_key' },
      },
    },
  };
}

function operationOf(route: Route<never>): Json {
  const { operation, summary, tag, body, bytes, isBodyOptional } = route;
  const content = bytes
    ? Object.fromEntries(bytes.contentTypes.map((type) => [type, { schema: bytes.schema }]))
    : body && { 'application/json': { schema: body } };
  return {
    operationId: operation,
    summary,
    tags: [tag],
    parameters: parametersOf(route),
    ...(content ? { requestBody: { required: !isBodyOptional, content } } : {}),
    responses: { ...successesOf(route), ...errorsOf(route) },
    security: securityOf(route),
  };
}

function parametersOf({ path, query, idempotency }: Route<never>): Json[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const inQuery = Object.entries(query).map(([name, { schema, doc }]) => ({
    name,
    in: 'query',
    required: false,
    description: doc,
    schema,
  }));
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'A repeat within 10 minutes gets the first answer.',
    schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyCharsMax },
  };
  return [...inPath, ...inQuery, ...(idempotency ? [key] : [])];
}

function successesOf({ success }: Route<never>): Json {
  return Object.fromEntries(
    Object.entries(success).map(([status, schema]) => [
      status,
      typeof schema === 'string' ? { description: schema } : { description: 'Success', content: { 'application/json': { schema } } },
    ]),
  );
}

/** Codes that a route can answer with: its own and those of its access, body and limits. */
export function codesOf({ access, body, bytes, errors = [], isProbe, idempotency }: Route<never>): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(errors);
  const add = (...more: readonly ErrorCode[]): void => {
    for (const code of more) codes.add(code);
  };
  if (access === 'key' || access === 'admin') add('missing_api_key', 'invalid_api_key', 'not_ready');
  if (access === 'admin') add('forbidden');
  if (!isProbe) add('rate_limited', 'internal_error');
  if (body || bytes) add('invalid_json', 'validation_error', 'payload_too_large', 'unsupported_media_type');
  if (idempotency) add('idempotency_conflict');
  return [...codes];
}

function errorsOf(route: Route<never>): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(route)) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: { 'application/json': { schema: errorReference } } },
    ]),
  );
}

const errorReference: TSchema | Json = { $ref: '#/components/schemas/Error' };

function securityOf({ access, keyInQuery }: Route<never>): Json[] {
  if (access === 'open' || access === 'signature') return [];
  return [{ apiKey: [] }, { bearer: [] }, ...(keyInQuery ? [{ queryKey: [] }] : [])];
}
