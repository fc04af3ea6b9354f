import { afterEach, describe, expect, it } from 'vitest';
import { ShellPage } from './shell-page.ts';

const pages: ShellPage[] = [];
const open = (path: string): ShellPage => {
  const page = new ShellPage(path);
  pages.push(page);
  return page;
};

afterEach(() => {
  for (const page of pages.splice(0)) page.close();
});

describe('commands that a page shows work one after the other, with what they print', () => {
  it('on the page of the server', { timeout: 240_000 }, async () => {
    expect(await open('docs/server.md').play()).toMatchObject({ servers: 1, followers: 1 });
  });

  it('on the page of security', { timeout: 240_000 }, async () => {
    const { servers, commands } = await open('docs/security.md').play();
    expect([servers, commands]).toEqual([1, expect.any(Number)]);
    expect(commands).toBeGreaterThanOrEqual(3);
  });
});
