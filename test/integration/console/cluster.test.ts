import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error A script without types.
import { bundleConsole } from '../../../scripts/bundle.mjs';
import { Coordinator, coordinatorKey } from '../../contract/coordinator.ts';
import { ModelWorker } from '../../contract/model-worker.ts';
import { hasChromium, launch, openTab } from './browser.ts';
import {
  cutButtons,
  focusedControl,
  focusedName,
  isFocusInDialog,
  keepKey,
  numberControls,
  overflow,
  small,
  unnamed,
  unreadable,
  // @ts-expect-error Code of the browser, without types.
} from './in-page.mjs';
import { deadPlaces, oddPlaces } from './odd-places.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const source = 'event Reading:\n    value: float\n\nstream Hot = Reading.where(value > 30).emit(value: value)\n';

describe.runIf(hasChromium())('the console of a cluster', { timeout: 120_000 }, () => {
  let coordinator: Coordinator;
  let browser: Browser;
  const workers: ModelWorker[] = [];

  beforeAll(async () => {
    await bundleConsole({ root, outdir: join(root, 'dist/console') });
    coordinator = await Coordinator.start({ workers: { heartbeatIntervalMs: 100, heartbeatTimeoutMs: 60_000, strategy: 'least-loaded' } });
    for (const id of ['w-1', 'w-2']) {
      workers.push(await ModelWorker.start(id, coordinator.url, { key: coordinatorKey, intervalMs: 100 }));
    }
    const pipelines = [
      { name: 'hot', source },
      { name: 'hotter', source },
      { name: 'of-a-name-that-is-longer-than-the-screen-of-a-phone-is-wide', source },
    ];
    await coordinator.post('/api/v1/cluster/pipeline-groups', { name: 'floors', pipelines, routes: [] });
    browser = await launch();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    for (const worker of workers) await worker.kill();
    await coordinator?.close();
  });

  const groupId = async (): Promise<string> => {
    const { body: groups } = await coordinator.get('/api/v1/cluster/pipeline-groups');
    return groups[0].id;
  };
  const places = ['', 'workers', 'workers/w-1', 'groups', 'migrations', 'raft', 'events'];

  it.each(['light', 'dark'] as const)(
    'shows every page on a phone, readable, with names for all that can be used: %s',
    async (colorScheme) => {
      const { page, problems } = await openTab(browser, { viewport: { width: 390, height: 844 }, colorScheme });
      await page.addInitScript(keepKey, coordinatorKey);
      for (const place of places) {
        await page.goto(`${coordinator.url}/console#/${place}`);
        await page.locator('main table, main ol, main .facts, main .empty').first().waitFor();
        expect([place, await page.evaluate(overflow)]).toEqual([place, 0]);
        expect([place, await page.evaluate(cutButtons)]).toEqual([place, []]);
        expect([place, await page.evaluate(unreadable)]).toEqual([place, []]);
        expect([place, await page.evaluate(unnamed)]).toEqual([place, []]);
        expect([place, await page.evaluate(small)]).toEqual([place, []]);
      }
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it('leads a keyboard to all that can be used, in its order and to be seen, and out of every question to where it was', async () => {
    const { page, problems } = await openTab(browser);
    await page.addInitScript(keepKey, coordinatorKey);
    for (const place of [...places, `groups/${await groupId()}`]) {
      await page.goto(`${coordinator.url}/console#/${place}`);
      await page.locator('main table, main ol, main .facts, main .empty').first().waitFor();
      await page.reload(); // Begins before the first control, wherever the page before was left.
      await page.locator('main table, main ol, main .facts, main .empty').first().waitFor();
      const controls: number = await page.evaluate(numberControls);
      const reached: unknown[] = [];
      for (let at = 0; at < controls; at++) {
        await page.keyboard.press('Tab');
        const control = (await page.evaluate(focusedControl)) as { readonly number: number; readonly isSeen: boolean } | undefined;
        reached.push(control?.isSeen ? control.number : (control ?? 'nothing'));
      }
      expect([place, reached]).toEqual([place, Array.from({ length: controls }, (_, at) => at)]);
      const buttons = await page.locator('main').getByRole('button', { disabled: false }).all();
      for (const button of buttons) {
        const name = (await button.getAttribute('aria-label')) ?? '';
        for (const leave of ['Escape', 'Enter']) {
          await button.press('Enter');
          await page.getByRole('dialog', { name }).waitFor();
          await expect.poll(() => page.evaluate(isFocusInDialog)).toBe(true);
          if (leave === 'Enter') await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).focus();
          await page.keyboard.press(leave);
          await page.getByRole('dialog').waitFor({ state: 'detached' });
          await expect.poll(() => page.evaluate(focusedName)).toBe(name);
        }
      }
    }
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('says of a place that is none what is the matter, and goes on', async () => {
    const { page, problems } = await openTab(browser);
    await page.addInitScript(keepKey, coordinatorKey);
    await page.goto(`${coordinator.url}/console#/groups`);
    await page.getByRole('link', { name: 'floors' }).waitFor();
    expect(await deadPlaces(page, oddPlaces(['', 'workers/', 'groups/', 'events']))).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('moves a pipeline, drains a worker and says what came of it', async () => {
    const { page, problems } = await openTab(browser);
    await page.addInitScript(keepKey, coordinatorKey);
    await page.goto(`${coordinator.url}/console#/groups`);
    await page.getByRole('link', { name: 'floors' }).click();
    const row = page.getByRole('row').filter({ hasText: 'hotter' });
    const from = await row.getByRole('link', { name: /^w-/ }).textContent();
    const to = from === 'w-1' ? 'w-2' : 'w-1';
    await row.getByRole('button', { name: 'Move' }).click();
    await page.getByRole('dialog').getByLabel('To').selectOption(to);
    await page.getByRole('dialog').getByRole('button', { name: 'Move' }).click();
    await row.getByRole('link', { name: to }).waitFor();

    await page.goto(`${coordinator.url}/console#/workers`);
    const worker = page.getByRole('row').filter({ hasText: to });
    await worker.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('status').getByText(`Drain ${to}: accepted.`).waitFor();
    await worker.getByText('drained').waitFor();
    // The button that had the focus can be used no more.
    await expect.poll(() => page.evaluate(focusedName)).toBe('Workers');

    await page.goto(`${coordinator.url}/console#/migrations`);
    await page.getByRole('row').filter({ hasText: 'floors / hotter' }).first().getByText('completed').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
