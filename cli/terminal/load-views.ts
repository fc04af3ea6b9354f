import type { TerminalViews } from './screen.ts';

/** Of the bundle, which is no module and so has no way of its own to load one: `scripts/start.mjs` hands it in. */
declare const importModule: ((url: string) => Promise<unknown>) | undefined;

/** The packages that draw on terminals, which may be missing. */
const packages = ['ink', 'react'];

/** What draws on terminals; undefined where its packages are not installed. */
export async function loadViews(env: Readonly<Record<string, string | undefined>>): Promise<TerminalViews | undefined> {
  // The packages know another name for it.
  if (env['NO_COLOR']) process.env['FORCE_COLOR'] = '0';
  const mode = process.env['NODE_ENV'];
  // As they are for developers they note each drawing with all that was drawn, for ever.
  process.env['NODE_ENV'] = 'production';
  try {
    return (await importViews()) as TerminalViews;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    if (mode === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = mode;
  }
}

function importViews(): Promise<unknown> {
  const isBundle = typeof importModule !== 'undefined';
  const { href } = new URL(isBundle ? './terminal.js' : './views.tsx', import.meta.url);
  return isBundle ? importModule(href) : import(href);
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_MODULE_NOT_FOUND' && packages.some((name) => message.includes(`'${name}'`));
}
