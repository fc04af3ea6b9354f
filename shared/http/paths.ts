import type { FastifyReply, FastifyRequest } from 'fastify';
import { CepError } from '../errors/error.ts';

/** Which methods each path takes, as far as routes are registered. */
export class Paths {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  readonly #hint: string;

  /** @param hint Where to see which paths there are. */
  constructor(hint: string) {
    this.#hint = hint;
  }

  /** @param url Its parameters as `:name`; `*` stands for any rest. */
  add(url: string, methods: readonly string[]): void {
    const pattern = url.replace(/\/$/, '').replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace(/\*/g, '.*');
    this.#routes.push({ pattern: new RegExp(`^${pattern}/?$`), methods });
  }

  /** Says what a path takes. What browsers want to know before they ask stands in the headers by now. @throws CepError `not_found` */
  answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    reply
      .code(204)
      .header('allow', this.#methodsOf(pathOf(request)).join(', '))
      .send();
  }

  /** @throws CepError `not_found`, or `method_not_allowed` when the path takes other methods */
  refuse(request: FastifyRequest, reply: FastifyReply): never {
    const path = pathOf(request);
    const allowed = this.#methodsOf(path).join(', ');
    reply.header('allow', allowed);
    throw new CepError('method_not_allowed', `${path} takes ${allowed}, found ${request.method}`);
  }

  /** OPTIONS is one of them; `*` is the server as a whole. */
  #methodsOf(path: string): readonly string[] {
    const found = this.#routes.filter(({ pattern }) => path === '*' || pattern.test(path));
    if (found.length > 0) return [...new Set([...found.flatMap(({ methods }) => methods), 'OPTIONS'])];
    throw new CepError('not_found', `no path ${path}`, { hint: this.#hint });
  }
}

/** The path of a request, without its query. */
export function pathOf({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.split('?')[0] ?? '';
}
