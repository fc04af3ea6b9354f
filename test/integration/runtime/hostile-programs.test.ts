import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesOf, event, outputTexts, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';
import { spinFunctions } from './spin-functions.ts';

const counter = `stream Count = Tick
  .aggregate(n: count())
  .emit(n: n)
`;

/** An event with spin true keeps the engine busy for about as long as it may loop at all; any other goes through at once. */
const spinner = `${spinFunctions}
stream Spin = Job
  .aggregate(n: count(), spun: last(rounds))
  .select(n: n, spun: spin(spun))
  .emit(n: n, spun: spun)
`;

describe('a program that keeps its engine busy', () => {
  let under: RuntimeUnderTest;

  beforeEach(async () => {
    under = await startRuntime({ engineThreads: 1, eventBudgetMs: 300, checkBudgetMs: 500 });
  });
  afterEach(() => under.runtime.shutdown({ deadlineMs: 5_000 }));

  it('loses the event it hangs at, and nothing else', async () => {
    const id = await under.deploy(spinner);
    expect(outputTexts(await under.inject(id, event('Job', { rounds: 0 })))).toEqual(['Spin {"n":1,"spun":0}']);
    const hanging = under.inject(id, [event('Job', { rounds: 0 }), event('Job', { rounds: 100 }), event('Job', { rounds: 0 })]);
    const behind = under.inject(id, event('Job', { rounds: 0 }));
    const answer = await hanging;
    expect(answer).toMatchObject({ accepted: 2, rejected: 1, errors: [{ index: 1, code: 'budget_exceeded' }] });
    expect(outputTexts(answer)).toEqual(['Spin {"n":2,"spun":0}', 'Spin {"n":3,"spun":0}']);
    expect(outputTexts(await behind)).toEqual(['Spin {"n":4,"spun":0}']);
    expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({ status: 'degraded', error: expect.stringContaining('given up') });
  });

  it('loses the event at which it hangs while a checkpoint waits to take the place of its state', async () => {
    const id = await under.deploy(spinner);
    await under.inject(id, event('Job', { rounds: 0 }));
    const { checkpointJson } = await under.runtime.pipelines.checkpoint(TENANT, id);
    const refused = expect(under.inject(id, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'budget_exceeded' });
    await under.runtime.pipelines.restore(TENANT, id, bytesOf(checkpointJson));
    await refused;
    expect(outputTexts(await under.inject(id, event('Job', { rounds: 0 })))).toEqual(['Spin {"n":2,"spun":0}']);
  });

  it('costs a pipeline on the same thread neither state nor an answer', async () => {
    const neighbour = await under.deploy(counter);
    const hostile = await under.deploy(spinner);
    for (let n = 1; n <= 3; n++) await under.inject(neighbour, event('Tick'));
    const refused = expect(under.inject(hostile, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'budget_exceeded' });
    const answers = await Promise.all([under.inject(neighbour, event('Tick')), under.inject(neighbour, event('Tick'))]);
    expect(answers.flatMap(outputTexts)).toEqual(['Count {"n":4}', 'Count {"n":5}']);
    await refused;
    expect(under.runtime.pipelines.get(TENANT, neighbour)).toMatchObject({ status: 'running', eventsProcessed: 5, outputEventsEmitted: 5 });
  });

  it('does not hold up its neighbours a second time: it has a thread of its own', async () => {
    const hostile = await under.deploy(spinner);
    await expect(under.inject(hostile, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'budget_exceeded' });
    await under.inject(hostile, event('Job', { rounds: 0 }));
    const neighbour = await under.deploy(counter);
    const restarts = (name: string): number | undefined => under.runtime.scrape().threads.find((thread) => thread.name === name)?.restarts;
    expect([restarts('engine-0'), restarts('engine-isolated')]).toEqual([1, 0]);
    const again = expect(under.inject(hostile, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'budget_exceeded' });
    let isHostileBusy = true;
    const watched = again.then(() => {
      isHostileBusy = false;
    });
    expect(outputTexts(await under.inject(neighbour, event('Tick')))).toEqual(['Count {"n":1}']);
    expect(isHostileBusy).toBe(true);
    await watched;
    expect([restarts('engine-0'), restarts('engine-isolated')]).toEqual([1, 1]);
  });

  it('has failed after three times, says why, and starts again with its last good state', async () => {
    const id = await under.deploy(spinner);
    await under.inject(id, event('Job', { rounds: 0 }));
    for (let time = 1; time <= 2; time++) {
      await expect(under.inject(id, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'budget_exceeded' });
    }
    await expect(under.inject(id, event('Job', { rounds: 100 }))).rejects.toMatchObject({ code: 'pipeline_not_running' });
    expect(under.runtime.pipelines.get(TENANT, id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('3 events were given up'),
    });
    await expect(under.inject(id, event('Job', { rounds: 0 }))).rejects.toMatchObject({ code: 'pipeline_not_running' });
    await under.runtime.pipelines.start(TENANT, id);
    expect(outputTexts(await under.inject(id, event('Job', { rounds: 0 })))).toEqual(['Spin {"n":2,"spun":0}']);
  });

  it('is refused when it hangs before its first event', async () => {
    const source = `${spinner}\nlet x = spin(100)\n`;
    await expect(under.deploy(source, 'hangs')).rejects.toMatchObject({ code: 'validation_error' });
    expect(under.runtime.pipelines.list(TENANT, { limit: 10, offset: 0 }).total).toBe(0);
    await expect(under.deploy(counter, 'hangs')).resolves.toMatch(/^p_/);
  });
});
