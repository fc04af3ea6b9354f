import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CepError } from '../errors/error.ts';
import type { BytesBody } from './route.ts';
import { configOf } from './route-config.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes its body as bytes. */
    bytes?: BytesBody | undefined;
  }
  interface FastifyRequest {
    /** The body as it came; undefined when there was none. */
    bodyBytes: Buffer | undefined;
  }
}

const jsonType = 'application/json';
const octetsType = 'application/octet-stream';
const lineTypes = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

/** NDJSON as the service names it, whichever of its names a client uses. */
export function isLinesOfJson(contentType: string | undefined): boolean {
  return lineTypes.some((type) => contentType?.toLowerCase().startsWith(type));
}

/** Takes bodies as bytes: JSON is read where a route declares its shape, and handed on untouched where it takes bytes. */
export function acceptBodies(app: FastifyInstance): void {
  app.decorateRequest('bodyBytes', undefined);
  app.removeAllContentTypeParsers();
  for (const type of [jsonType, octetsType, ...lineTypes]) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, body, done) => {
      try {
        done(null, bodyOf(request, body as Buffer, type));
      } catch (error) {
        done(error as Error);
      }
    });
  }
  app.addHook('preParsing', (request, _reply, payload, done) => done(encodingRefusal(request), payload));
}

function bodyOf(request: FastifyRequest, bytes: Buffer, type: string): unknown {
  request.bodyBytes = bytes;
  const { bytes: wanted } = configOf(request);
  const accepted = wanted?.contentTypes ?? [jsonType];
  if (!accepted.includes(type) && !(type !== jsonType && accepted.some(isLinesOfJson))) {
    throw new CepError('unsupported_media_type', `found ${type}, expected ${accepted.join(' or ')}`);
  }
  if (wanted) return bytes;
  return bytes.length === 0 ? undefined : readJson(bytes);
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const isText = cause instanceof SyntaxError;
    throw new CepError('invalid_json', isText ? `the body is no JSON: ${cause.message}` : 'the body is not UTF-8', { cause });
  }
}

function encodingRefusal({ headers }: FastifyRequest): CepError | null {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return null;
  return new CepError('unsupported_media_type', `found the content encoding '${encoding}', expected none`, {
    hint: 'send the body uncompressed',
  });
}
