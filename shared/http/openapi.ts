import type { TSchema } from 'typebox';
import { type ErrorCode, errorCodes } from '../errors/codes.ts';
import { limits } from '../limits.ts';
import { errorSchema } from '../protocol/error-schema.ts';
import { type Route, readsNoQuery } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

interface ApiFacts {
  readonly title: string;
  readonly version: string;
  /** Whether requests need a key. */
  readonly isAuthenticationOn: boolean;
}

/** The OpenAPI 3.1 document of routes. */
export function openApiDocument({ isAuthenticationOn, ...info }: ApiFacts, routes: readonly Route<never>[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operationOf(route, isAuthenticationOn);
  }
  return {
    openapi: '3.1.0',
    info,
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

function operationOf(route: Route<never>, isAuthenticationOn: boolean): Json {
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
    security: isAuthenticationOn ? securityOf(route) : [],
  };
}

function parametersOf({ path, query, idempotency, isConditional }: Route<never>): Json[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const inQuery = Object.entries(query).map(([name, { schema, doc, isRequired }]) => ({
    name,
    in: 'query',
    required: isRequired === true,
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
  const version = {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The ETag of what the change was made for; another one is refused with 412.',
    schema: { type: 'string' },
  };
  return [...inPath, ...inQuery, ...(idempotency ? [key] : []), ...(isConditional ? [version] : [])];
}

function successesOf({ success, textType }: Route<never>): Json {
  const asText = textType && { content: { [textType]: { schema: { type: 'string' } } } };
  return Object.fromEntries(
    Object.entries(success).map(([status, schema]) => [
      status,
      typeof schema === 'string'
        ? { description: schema, ...asText }
        : { description: 'Success', content: { 'application/json': { schema } } },
    ]),
  );
}

/** Codes that a route can answer with: its own and those of its access, body and limits. */
export function codesOf(route: Route<never>): readonly ErrorCode[] {
  const { access, body, bytes, errors = [], isProbe, idempotency, isConditional } = route;
  const codes = new Set<ErrorCode>([...errors, 'bad_request', 'forbidden']);
  const add = (...more: readonly ErrorCode[]): void => {
    for (const code of more) codes.add(code);
  };
  if (access === 'key' || access === 'admin') add('missing_api_key', 'invalid_api_key', 'rate_limited', 'not_ready');
  if (!isProbe) add('rate_limited', 'internal_error');
  if (!readsNoQuery(route)) add('validation_error');
  if (body || bytes) add('invalid_json', 'validation_error', 'payload_too_large', 'unsupported_media_type');
  if (idempotency) add('idempotency_conflict');
  if (isConditional) add('version_conflict');
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
      { description: codes.join(', '), content: { 'application/json': { schema: route.errorBodies?.[Number(status)] ?? errorReference } } },
    ]),
  );
}

const errorReference: TSchema | Json = { $ref: '#/components/schemas/Error' };

function securityOf({ access, keyInQuery }: Route<never>): Json[] {
  if (access === 'open' || access === 'signature') return [];
  return [{ apiKey: [] }, { bearer: [] }, ...(keyInQuery ? [{ queryKey: [] }] : [])];
}
