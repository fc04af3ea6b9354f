import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onTestFailed } from 'vitest';

const executablePath = process.env['CEP_CHROMIUM'] ?? '/usr/bin/chromium';
const screenshots = fileURLToPath(new URL('../../../artifacts/console/', import.meta.url));

/** Without Chromium the pages are not looked at, which is said; where everything must run it is a failure. */
export function hasChromium(): boolean {
  if (existsSync(executablePath)) return true;
  if (process.env['CI'] !== undefined) throw new Error(`there is no Chromium at ${executablePath}: apt-get install chromium`);
  process.stderr.write(`\nSKIPPED tests of the console: no Chromium at ${executablePath} (CEP_CHROMIUM names another)\n\n`);
  return false;
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    // As root, in containers, and without asking the world for anything.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
    ],
  });
}

export interface Tab {
  readonly page: Page;
  /** Addresses of all requests. */
  readonly urls: readonly string[];
  /** What the page did wrong: exceptions, and what its content policy refused. */
  readonly problems: readonly string[];
}

let pictures = 0;

/** A tab of its own, whose picture is kept when the test fails. */
export async function openTab(browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const urls: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) problems.push(message.text());
  });
  onTestFailed(async ({ task }) => {
    await mkdir(screenshots, { recursive: true });
    const name = `${task.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-${++pictures}.png`;
    await page.screenshot({ path: join(screenshots, name), fullPage: true });
  });
  return { page, urls, problems };
}
