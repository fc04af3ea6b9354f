import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error A script without types.
import { bundleConsole } from '../../../scripts/bundle.mjs';
import { type RunningServer, startServer } from '../../../worker/server/index.ts';
import { hasChromium, launch, openTab, type Tab } from './browser.ts';
// @ts-expect-error Code of the browser, without types.
import { focusedText, goTo, isFocusInMain, keepKey, overflow, unnamed, unreadable } from './in-page.mjs';
import { deadPlaces, oddPlaces } from './odd-places.ts';

/** With signs that no subprotocol has. */
const key = 'the-key-of-the-console/+==';
const keyInUrl = 'the-key-of-the-console';
const root = fileURLToPath(new URL('../../..', import.meta.url));

const hot = `event Reading:
    sensor: str
    value: float

stream Hot = Reading.where(value > 30).emit(sensor: sensor, value: value)
`;

const rising = `event Reading:
    sensor: str
    value: float

stream Rising = Reading as low -> Reading as high where sensor == low.sensor and value > low.value + 10 within 10m
    .emit(sensor: low.sensor, from: low.value, to: high.value)
`;

// Pages are looked at with a browser; where there is none, the verification in CI installs it.
describe.runIf(hasChromium())('the console', { timeout: 120_000 }, () => {
  let server: RunningServer;
  let browser: Browser;
  let stateDir: string;
  let sink: HttpServer;
  let sinkStatus = 500;
  let port = 0;

  const start = async (): Promise<void> => {
    server = await startServer({ port, stateDir, apiKey: key, engineThreads: 1, writeLog: () => undefined });
    port = Number(new URL(server.url).port);
  };

  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'cep-console-'));
    sink = createServer((request, response) => {
      request.resume();
      response.writeHead(sinkStatus).end();
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    await bundleConsole({ root, outdir: join(root, 'dist/console') });
    await start();
    browser = await launch();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    sink.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  /** As a client of the API. */
  const api = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const given = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(given)}`);
    return given;
  };

  const deploy = async (name: string, source: string): Promise<string> =>
    (await api('POST', '/pipelines', { name, source }))['id'] as string;
  const send = (id: string, value: number, sensor = 'a', more: object = {}): Promise<unknown> =>
    api('POST', `/pipelines/${id}/events`, { event_type: 'Reading', fields: { sensor, value }, ...more });

  /** A tab that has the key already, as one that was given it. */
  const open = async (place: string, options = {}): Promise<Tab> => {
    const tab = await openTab(browser, options);
    await tab.page.addInitScript(keepKey, key);
    await tab.page.goto(`${server.url}/console#${place}`);
    return tab;
  };

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

  it('asks for the key once, says when nobody has it, and puts it into no address', async () => {
    const { page, urls, problems } = await openTab(browser);
    await page.goto(`${server.url}/console`);
    await page.getByLabel('API key').fill('not-the-key');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('Nobody has this key.').waitFor();
    await page.getByLabel('API key').fill(`${key}\u200b`);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('This cannot be a key').waitFor();
    expect(await page.getByText(/Nobody has this key|Connection lost/).count()).toBe(0);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await heading(page, 'Overview').waitFor();
    await page.reload();
    await heading(page, 'Overview').waitFor();
    expect(await page.getByLabel('API key').count()).toBe(0);
    expect(urls.filter((url) => url.includes(keyInUrl) || url.includes('not-the-key'))).toEqual([]);
    expect(problems).toEqual([]);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await page.getByLabel('API key').waitFor();
  });

  it('takes a program from the editor to its first alert', async () => {
    const { page, problems, urls } = await open('/');
    await page.getByRole('link', { name: 'Editor' }).click();
    await write(page, 'stream Hot = Reading.where(value > )\n');
    await page.getByRole('heading', { name: /^\d+ errors?$/ }).waitFor();
    await page.getByLabel('Name of the pipeline').fill('made here');
    expect(await page.getByRole('button', { name: 'Deploy' }).isDisabled()).toBe(true);
    await write(page, hot);
    await page.getByRole('heading', { name: 'The program is right' }).waitFor();
    await page
      .getByLabel(/^Events, one a line/)
      .fill('@0s Reading { sensor: "a", value: 20.5 }\n@5s Reading { sensor: "b", value: 31.5 }\n');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('2 events taken, 1 alert.').waitFor();
    await page.getByLabel(/^Events, one a line/).fill('Reading { sensor: "a", value: 31.5 }\n'.repeat(1_100));
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('1,100 events taken, 1,100 alerts.').waitFor();
    await page.getByText('100 alerts came too fast').waitFor();
    await page.getByRole('button', { name: 'Deploy' }).click();
    await heading(page, 'made here').waitFor();
    await page.getByRole('link', { name: 'Live alerts' }).click();
    await page.getByText('No alert yet').waitFor();
    const { pipelines } = (await api('GET', '/pipelines')) as { pipelines: { id: string; name: string }[] };
    await send(pipelines.find(({ name }) => name === 'made here')?.id ?? '', 41.5);
    await page.getByRole('link', { name: /Hot sensor: a value: 41\.5/ }).click();
    await heading(page, 'Hot').waitFor();
    expect(await page.getByRole('row', { name: 'value 41.5' }).count()).toBe(1);
    expect(problems).toEqual([]);
    expect(urls.filter((url) => url.includes(keyInUrl))).toEqual([]);
  });

  it('tries a program with what it imports', async () => {
    const source = `import "limits.vpl"\n${hot.replace('30', 'LIMIT')}`;
    const files = { 'limits.vpl': 'const LIMIT = 30\n' };
    const { id } = await api('POST', '/pipelines', { name: 'with imports', source, files });
    const { page } = await open(`/pipelines/${id}/edit`);
    await page.getByLabel(/^Events, one a line/).fill('Reading { sensor: "a", value: 31.5 }\n');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('1 event taken, 1 alert.').waitFor();
  });

  it('puts problems first, and leads from a breaker that is open to dead letters that are sent again', async () => {
    const { port: sinkPort } = sink.address() as AddressInfo;
    const target = `connector Pager = http(url: "http://127.0.0.1:${sinkPort}/", retries: 0, failure_threshold: 1, reset_timeout: 1s)\n`;
    const id = await deploy('paging', `${target}${hot.trimEnd()}.to(Pager)\n`);
    await send(id, 50);
    const { page, problems } = await open('/');
    const found = page.getByRole('link', { name: 'paging 1 dead letter: a sink did not take it' });
    await found.waitFor();
    expect(await page.locator('main h2').first().textContent()).toMatch(/^\d+ problems?$/);
    await found.click();
    await page.getByRole('heading', { name: '1 dead letter' }).waitFor();
    sinkStatus = 204;
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click();
    await page.getByText('1 letter delivered, 0 failed again.').waitFor();
    await page.getByText('Every sink has taken everything.').waitFor();
    await page.getByRole('link', { name: 'Connectors' }).click();
    await page.getByRole('row', { name: /Pager http paging/ }).waitFor();
    expect(problems).toEqual([]);
  });

  it('explains which step a stream waits for', async () => {
    const id = await deploy('rising', rising);
    await send(id, 12, 'pump-7');
    const { page } = await open(`/pipelines/${id}`);
    await page
      .getByRole('link', { name: /^Rising/ })
      .first()
      .click();
    await page.getByText('1 of 2 steps taken').waitFor();
    await page.getByText('high where sensor == low.sensor and value > low.value + 10').waitFor();
  });

  it('shows the events that made an alert, once the pipeline is watched', async () => {
    const id = await deploy('traced', rising);
    for (const value of [1, 12]) await send(id, value, 'pump-1', { timestamp: value * 1_000 });
    const { page, problems } = await open(`/pipelines/${id}/alerts/1`);
    await page.getByText('The pipeline was not watched when this alert came').waitFor();
    await page.getByRole('button', { name: 'Watch the pipeline from now on' }).click();
    await page.getByText('It is watched now').waitFor();
    for (const value of [20, 31]) await send(id, value, 'pump-2', { timestamp: value * 1_000 });
    await page.goto(`${server.url}/console#/pipelines/${id}/alerts/2`);
    await page.getByText('Matched by 2 events:').waitFor();
    await page.getByText('+0 s low: Reading { sensor: pump-2, value: 20 }').waitFor();
    await page.getByText('+11 s high: Reading { sensor: pump-2, value: 31 }').waitFor();
    await page.getByRole('link', { name: 'traced' }).click();
    await page.getByText('watched', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Unwatch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unwatch' }).click();
    await page.getByRole('button', { name: 'Watch', exact: true }).waitFor();
    expect(problems).toEqual([]);
  });

  it('says what a reload costs before it is done, and tells two people of each other', async () => {
    const id = await deploy('shared', rising);
    await send(id, 40);
    const { page } = await open(`/pipelines/${id}/edit`);
    await write(page, rising.replace('+ 10', '+ 20'));
    await page.getByRole('button', { name: 'What would it change?' }).click();
    await page.getByText('Nothing is changed yet.').waitFor();
    await api('POST', `/pipelines/${id}/reload`, { source: rising.replace('10m', '5m') });
    await send(id, 40);
    await page.getByRole('button', { name: 'Reload, and lose that state' }).click();
    await page.getByText('Somebody else has changed this pipeline').waitFor();
    expect(await api('GET', `/pipelines/${id}`)).toMatchObject({ version: 2, source: rising.replace('10m', '5m') });
    await page.getByRole('button', { name: 'I have seen it: mine replaces theirs' }).click();
    await page.getByRole('button', { name: 'What would it change?' }).click();
    await page.getByRole('button', { name: 'Reload, and lose that state' }).click();
    await page.getByText('Version 3 runs.').waitFor();
    expect(await api('GET', `/pipelines/${id}`)).toMatchObject({ version: 3, source: rising.replace('+ 10', '+ 20') });
  });

  it('warns of no loss where a reload loses nothing', async () => {
    const id = await deploy('refined', hot);
    const { page } = await open(`/pipelines/${id}/edit`);
    await write(page, hot.replace('> 30', '> 40'));
    await page.getByRole('button', { name: 'What would it change?' }).click();
    await page.getByText('mean something else, and lose no state: Hot').waitFor();
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.getByText('Version 2 runs.').waitFor();
    await page.goto(`${server.url}/console#/pipelines/${id}/program`);
    await page.getByRole('row', { name: /^2 .*Hot/ }).waitFor();
  });

  it('says when the server is away, and goes on by itself when it is back', async () => {
    const id = await deploy('lasting', hot);
    const { page, problems } = await open(`/pipelines/${id}/alerts`);
    await page.getByText('No alert yet').waitFor();
    await server.close();
    await page.getByText('Connection lost at').waitFor();
    await start();
    await page.getByText('Connected again').waitFor();
    await send(id, 77);
    await page.getByRole('link', { name: /Hot sensor: a value: 77/ }).waitFor();
    expect(problems).toEqual([]);
  });

  const places = ['/', '/pipelines', '/alerts', '/connectors', '/editor', '/tenants', '/settings'];
  const views = ['', '/alerts', '/explain', '/letters', '/messages', '/program', '/edit'];

  it.each([
    { what: 'phone', options: { viewport: { width: 360, height: 740 } } },
    { what: 'dark screen', options: { colorScheme: 'dark' as const } },
  ])('has pages without errors, as wide as the screen, with text that can be read: $what', async ({ options }) => {
    const { pipelines } = (await api('GET', '/pipelines')) as { pipelines: { id: string }[] };
    const all = [...places, ...views.map((view) => `/pipelines/${pipelines[0]?.id}${view}`)];
    const { page, problems } = await open('/', options);
    for (const place of all) {
      await page.goto(`${server.url}/console#${place}`);
      await page.locator('main h1').waitFor();
      await page.locator('main .waiting').waitFor({ state: 'detached' });
      expect([place, await page.evaluate(overflow)]).toEqual([place, 0]);
      expect([place, await page.evaluate(unreadable)]).toEqual([place, []]);
      expect([place, await page.evaluate(unnamed)]).toEqual([place, []]);
    }
    expect(problems).toEqual([]);
  });

  it('shows every column beside a name as long as names may be', async () => {
    await deploy('p'.repeat(128), hot);
    const { page } = await open('/', { viewport: { width: 900, height: 740 } });
    for (const place of ['/pipelines', '/']) {
      await page.goto(`${server.url}/console#${place}`);
      const last = page.locator('table').last().locator('thead th').last();
      const box = await last.boundingBox();
      expect([place, Math.round((box?.x ?? 0) + (box?.width ?? 0)) <= 900]).toEqual([place, true]);
    }
  });

  it('finds pipelines while their name is typed, and goes back to where it came from', async () => {
    await deploy('tank-0417', hot);
    const { page, problems } = await open('/');
    await page.getByRole('link', { name: 'Pipelines', exact: true }).click();
    await page.getByLabel('Name or label').pressSequentially('Tank-0417');
    await page.getByText(/^1 of \d+$/).waitFor();
    expect(await page.getByLabel('Name or label').inputValue()).toBe('Tank-0417');
    await page.reload();
    await page.getByText(/^1 of \d+$/).waitFor();
    await page.goBack();
    await heading(page, 'Overview').waitFor();
    expect(problems).toEqual([]);
  });

  it('is led to by the path of a page', async () => {
    const { page } = await open('/');
    await heading(page, 'Overview').waitFor();
    await page.goto(`${server.url}/console/pipelines?search=nothing-like-it`);
    await page.getByText('No pipeline fits.').waitFor();
  });

  it('says of a place that is none what is the matter, and goes on', async () => {
    const id = await deploy('odd places', hot);
    await send(id, 41);
    const { page, problems } = await open('/pipelines');
    await heading(page, 'Pipelines').waitFor();
    const below = ['', 'pipelines/', `pipelines/${id}/`, `pipelines/${id}/alerts/`, `pipelines/${id}/explain`, 'alerts'];
    expect(await deadPlaces(page, oddPlaces(below))).toEqual([]);
    expect(problems).toEqual([]);
    // What was there before is not taken for what is asked for now.
    await page.goto(`${server.url}/console#/pipelines/${id}/alerts/1`);
    await heading(page, 'Hot').waitFor();
    await page.evaluate(goTo, '#/pipelines/none/alerts/1');
    await heading(page, 'Alert').waitFor();
    await page.getByText(/no pipeline/i).waitFor();
  });

  it('works by keyboard', async () => {
    const { page } = await open('/');
    await page.locator('main section a').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(focusedText)).toBe('To the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(isFocusInMain)).toBe(true);
    await page.getByRole('link', { name: 'Pipelines', exact: true }).focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Pipelines').waitFor();
    await expect.poll(() => page.evaluate(focusedText)).toBe('Pipelines');
    await page.getByRole('link', { name: 'lasting' }).press('Enter');
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await api('GET', '/pipelines')).toMatchObject({
      pipelines: expect.arrayContaining([expect.objectContaining({ name: 'lasting' })]),
    });
  });

  it('shows a tenant its own, and says what is for others', async () => {
    const tenant = await api('POST', '/tenants', { name: 'ann' });
    const { page } = await openTab(browser);
    await page.addInitScript(keepKey, tenant['api_key'] as string);
    await page.goto(`${server.url}/console`);
    await page.getByText('No pipeline is deployed yet.').waitFor();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByText("Other tenants are shown to the server's own key.").waitFor();
    await page.getByRole('heading', { name: 'Usage of ann' }).waitFor();
  });
});

/** Puts a text in the place of the one in the editor, as hands do. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Program' }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
