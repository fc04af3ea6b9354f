import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CepError } from '../errors/error.ts';

/** The pages load what this server serves and ask nobody else; nothing inline runs, no text becomes code. */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'content-security-policy': contentPolicy,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isFixed: boolean;
}

const isSource = import.meta.url.endsWith('.ts');
/** Beside the bundle that this file is in, or where a build of the source puts it. */
const folder = new URL(isSource ? '../../dist/console/' : './console/', import.meta.url);

/** `main.js`: no page of the console is named like that, and what stands behind a page's name is no file. */
const fileName = /^[^/]*\.\w+$/;

/**
 * Serves the console at `/console`. Like the documentation it needs no key, and knows nothing: the pages ask for one.
 * Their places stand behind a `#`, which browsers keep to themselves. Who types `/console/pipelines` means `/console#/pipelines` and is led there.
 */
export async function registerConsole(app: FastifyInstance): Promise<void> {
  const files = new Map<string, ConsoleFile>();
  const config = { access: 'open', operation: 'console' } as const;
  await app.register(async (pages) => {
    pages.get('/console', { config }, (request, reply) => answer(request, reply, fileOf('index.html', files)));
    pages.get('/console/*', { config }, (request, reply) => {
      const name = (request.params as { '*': string })['*'];
      if (name === '') return answer(request, reply, fileOf('index.html', files));
      if (fileName.test(name) || name.includes('..')) return answer(request, reply, fileOf(name, files));
      return reply.redirect(`/console#${request.url.slice('/console'.length)}`, 302);
    });
  });
}

/** Read when it is first asked for. @throws CepError `not_found` */
function fileOf(name: string, known: Map<string, ConsoleFile>): ConsoleFile {
  const file = known.get(name) ?? readConsoleFile(name);
  known.set(name, file);
  return file;
}

function readConsoleFile(name: string): ConsoleFile {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.length === 0) throw new CepError('not_found', 'the console is not built', { hint: 'run `npm run build` in the checkout' });
  const type = contentTypes[extname(name)];
  if (type === undefined || !names.includes(name))
    throw new CepError('not_found', `the console has no file '${name}'`, { hint: 'it begins at /console' });
  const bytes = readFileSync(fileURLToPath(new URL(name, folder)));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, gzipped: gzipSync(bytes), etag, isFixed: name.startsWith('part-') };
}

function answer(request: FastifyRequest, reply: FastifyReply, { type, bytes, gzipped, etag, isFixed }: ConsoleFile): FastifyReply {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  reply.headers({
    ...headers,
    'content-type': type,
    'cache-control': isFixed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    etag,
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return takesGzip ? reply.header('content-encoding', 'gzip').send(gzipped) : reply.send(bytes);
}
